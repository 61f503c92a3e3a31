#pragma once
// Texts that follow the language: a rule given to `bind` runs at once and again after every change of the
// language. Lives as a child of the widget whose texts it sets. Thread: the window's.
#include <QEvent>
#include <QWidget>
#include <functional>
#include <vector>

namespace mantissa::ui {

class Retranslation : public QObject {
  public:
    explicit Retranslation(QWidget* widget) : QObject(widget) { widget->installEventFilter(this); }

    void bind(std::function<void()> rule) {
        rule();
        m_rules.push_back(std::move(rule));
    }
    void runAll() const {
        for (const auto& rule : m_rules) {
            rule();
        }
    }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::LanguageChange) {
            runAll();
        }
        return QObject::eventFilter(watched, event);
    }

  private:
    std::vector<std::function<void()>> m_rules;
};

}  // namespace mantissa::ui
