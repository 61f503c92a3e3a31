#include "ui/shell/window_options.h"

#include <QRegularExpression>
#include <functional>
#include <map>

namespace mantissa::ui {
namespace {

Error usage(const QString& sentence) {
    return {ErrorCode::Usage, sentence.toStdString(), "mantissa-workbench --help lists the options"};
}

Result<void> oneOf(const QString& option, const QString& value, const QStringList& allowed) {
    if (allowed.contains(value)) {
        return {};
    }
    return usage(
        QStringLiteral("%1 is \"%2\": use one of %3").arg(option, value, allowed.join(QStringLiteral(", "))));
}

using Setters = std::map<QString, std::function<Result<void>(const QString&)>>;

Setters settersOf(WindowOptions& options) {
    return {
        {QStringLiteral("--compare"),
         [&options](const QString& value) {
             options.plan = value.toStdString();
             options.startComparison = true;
             return Result<void>();
         }},
        {QStringLiteral("--open"),
         [&options](const QString& value) {
             options.open = value.toStdString();
             return Result<void>();
         }},
        {QStringLiteral("--runs-dir"),
         [&options](const QString& value) {
             options.runs = value.toStdString();
             return Result<void>();
         }},
        {QStringLiteral("--page"),
         [&options](const QString& value) {
             options.page = value;
             return oneOf(QStringLiteral("--page"), value,
                          {QStringLiteral("setup"), QStringLiteral("live"), QStringLiteral("numerics"), QStringLiteral("runs"),
                           QStringLiteral("lessons"), QStringLiteral("replay")});
         }},
        {QStringLiteral("--lesson"),
         [&options](const QString& value) {
             options.lesson = value;
             options.page = QStringLiteral("lessons");
             return Result<void>();
         }},
        {QStringLiteral("--answer"),
         [&options](const QString& value) -> Result<void> {
             options.answer = value.toInt();
             return options.answer > 0 ? Result<void>() : usage(QStringLiteral("--answer is \"%1\": use the number of an answer").arg(value));
         }},
        {QStringLiteral("--step"),
         [&options](const QString& value) -> Result<void> {
             bool ok = false;
             const qlonglong step = value.toLongLong(&ok);
             options.step = step;
             return ok && step >= 0 ? Result<void>() : usage(QStringLiteral("--step is \"%1\": use the number of a step").arg(value));
         }},
        {QStringLiteral("--theme"),
         [&options](const QString& value) {
             options.theme = value;
             return oneOf(QStringLiteral("--theme"), value,
                          {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark")});
         }},
        {QStringLiteral("--language"),
         [&options](const QString& value) {
             options.language = value;
             return oneOf(QStringLiteral("--language"), value, {QStringLiteral("en"), QStringLiteral("zh")});
         }},
        {QStringLiteral("--size"),
         [&options](const QString& value) -> Result<void> {
             const auto match = QRegularExpression(QStringLiteral("^(\\d{3,5})x(\\d{3,5})$")).match(value);
             if (!match.hasMatch()) {
                 return usage(
                     QStringLiteral("--size is \"%1\": use WIDTHxHEIGHT, for example 1024x600").arg(value));
             }
             options.size = QSize(match.captured(1).toInt(), match.captured(2).toInt());
             return {};
         }},
        {QStringLiteral("--screenshot"),
         [&options](const QString& value) {
             options.screenshot = value;
             return Result<void>();
         }},
        {QStringLiteral("--screenshot-after"),
         [&options](const QString& value) -> Result<void> {
             bool ok = false;
             options.screenshotAfterMs = value.toInt(&ok);
             return ok ? Result<void>()
                       : usage(QStringLiteral("--screenshot-after is \"%1\": use milliseconds").arg(value));
         }},
    };
}

}  // namespace

QString WindowOptions::help() {
    return QStringLiteral(
        "Usage: mantissa-workbench [PLAN] [options]\n\n"
        "  PLAN                 preset (digits-cnn) or plan file that Set up begins with\n"
        "  --compare PLAN       the same, and start its comparison at once\n"
        "  --open FOLDER        show a run or a comparison\n"
        "  --runs-dir FOLDER    where runs are kept (default: MANTISSA_RUNS_DIR, else "
        "~/.local/share/mantissa/runs)\n"
        "  --page PAGE          setup, live, numerics, runs, lessons, or replay (with --open: the run's first bad step)\n"
        "  --lesson N           page lessons with that lesson: number or name\n"
        "  --answer N           of a lesson: predict that and run at once\n"
        "  --step N             of page replay: another step\n"
        "  --theme THEME        system, light or dark\n"
        "  --language CODE      en or zh\n"
        "  --size WxH           size of the window, e.g. 1024x600\n"
        "  --screenshot FILE    save a picture of the window (PNG) and end\n"
        "  --screenshot-after MS  wait that long before the picture (default 1500)\n"
        "  --help, --version\n");
}

Result<WindowOptions> WindowOptions::parse(const QStringList& arguments) {
    WindowOptions options;
    const Setters setters = settersOf(options);
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        const qsizetype equals =
            arguments[i].startsWith(QLatin1String("--")) ? arguments[i].indexOf(QLatin1Char('=')) : -1;
        const QString name = equals < 0 ? arguments[i] : arguments[i].left(equals);
        const auto setter = setters.find(name);
        if (setter == setters.end()) {
            if (name.startsWith(QLatin1Char('-')) || !options.plan.empty()) {
                return usage(QStringLiteral("unknown argument \"%1\"").arg(arguments[i]));
            }
            options.plan = arguments[i].toStdString();
            continue;
        }
        if (equals < 0 && i + 1 == arguments.size()) {
            return usage(QStringLiteral("%1 needs a value").arg(name));
        }
        const QString value = equals < 0 ? arguments[++i] : arguments[i].mid(equals + 1);
        if (auto taken = setter->second(value); !taken) {
            return taken.error();
        }
    }
    return options;
}

}  // namespace mantissa::ui
