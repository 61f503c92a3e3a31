#include "ui/numerics/numerics_page.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "record/meta_keys.h"
#include "ui/numerics/choice_row.h"
#include "ui/numerics/heat_map.h"
#include "ui/numerics/heat_scale.h"
#include "ui/numerics/numerics_tables.h"
#include "ui/numerics/numerics_words.h"
#include "ui/numerics/tensor_panel.h"
#include "ui/numerics/twin_card.h"
#include "ui/numerics/watch_switch.h"

namespace mantissa::ui {
namespace {

/// Item data: the index of the run to compare with; -1: none.
constexpr int nobody = -1;

QString modeName(const RunFacts& run) { return QString::fromLatin1(to_string(run.mode)); }

/// Keeps the chosen one; a list that is the same already is left alone, since it may be open.
void setItems(QComboBox& box, const std::vector<std::pair<QString, int>>& items) {
    bool isSame = box.count() == static_cast<int>(items.size());
    for (int i = 0; isSame && i < box.count(); ++i) {
        const auto& [text, data] = items[static_cast<std::size_t>(i)];
        isSame = box.itemText(i) == text && box.itemData(i).toInt() == data;
    }
    if (isSame) {
        return;
    }
    const QVariant before = box.currentData();
    const QSignalBlocker quiet(&box);
    box.clear();
    for (const auto& [text, data] : items) {
        box.addItem(text, data);
    }
    box.setCurrentIndex(std::max(0, box.findData(before)));
}

}  // namespace

NumericsPage::NumericsPage(Theme& theme, QWidget* parent)
    : QWidget(parent), m_theme(theme), m_reader(new NumericsReader(this)), m_modes(new ChoiceRow("numericsModes", this)),
      m_roles(new ChoiceRow("numericsRoles", this)), m_quantity(new QComboBox(this)),
      m_formatLabel(new QLabel(this)), m_format(new QComboBox(this)), m_watch(new WatchSwitch(this)), m_map(new HeatMap(theme)),
      m_mapCard(new TwinCard(m_map, "heatTable", this)), m_tensor(new TensorPanel(theme, this)), m_tabs(new QTabWidget(this)),
      m_opSentence(new QLabel(this)), m_againstLabel(new QLabel(this)), m_against(new QComboBox(this)) {
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setObjectName(QStringLiteral("numericsSplit"));
    split->setChildrenCollapsible(false);
    split->setHandleWidth(8);
    split->addWidget(buildLeft());
    split->addWidget(m_tensor);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 6);
    column->setSpacing(8);
    column->addWidget(buildControls());
    column->addWidget(split, 1);
    setFocusProxy(m_map);
    connectParts();
    retranslate();
}

NumericsPage::~NumericsPage() = default;

QWidget* NumericsPage::buildControls() {
    auto* card = new QFrame(this);
    card->setProperty("card", true);
    m_quantity->setObjectName(QStringLiteral("heatQuantity"));
    m_format->setObjectName(QStringLiteral("lensFormat"));
    m_formatLabel->setBuddy(m_format);
    m_formatLabel->setProperty("muted", true);
    m_mapCard->addControl(m_quantity);
    for (std::size_t i = 0; i < lensFormats.size(); ++i) {
        m_format->addItem(QString::fromLatin1(to_string(lensFormats[i])));
    }
    for (std::size_t i = 0; i < allHeatQuantities.size(); ++i) {
        m_quantity->addItem(QString());
    }
    auto* row = new QHBoxLayout(card);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(7);
    row->addWidget(m_modes);
    row->addWidget(m_roles);
    row->addWidget(m_formatLabel);
    row->addWidget(m_format);
    row->addStretch(1);
    row->addWidget(m_watch);
    return card;
}

QWidget* NumericsPage::buildLeft() {
    auto* left = new QSplitter(Qt::Vertical, this);
    left->setObjectName(QStringLiteral("numericsLeft"));
    left->setChildrenCollapsible(false);
    left->setHandleWidth(8);
    m_tabs->setObjectName(QStringLiteral("numericsTabs"));
    m_tabs->setDocumentMode(true);
    auto* above = new QWidget(this);
    auto* row = new QHBoxLayout(above);
    row->setContentsMargins(2, 2, 2, 2);
    m_opSentence->setObjectName(QStringLiteral("opSentence"));
    m_opSentence->setWordWrap(true);
    m_against->setObjectName(QStringLiteral("opsAgainst"));
    m_againstLabel->setBuddy(m_against);
    m_againstLabel->setProperty("muted", true);
    row->addWidget(m_opSentence, 1);
    row->addWidget(m_againstLabel);
    row->addWidget(m_against);
    m_ops = addPage("opTable", above);
    m_updates = addPage("updateTable");
    m_local = addPage("localErrorTable");
    m_forecast = new QLabel(this);
    m_forecast->setObjectName(QStringLiteral("forecast"));
    m_forecast->setWordWrap(true);
    m_forecast->setMargin(10);
    m_forecast->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_forecast->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_forecast);
    m_tabs->addTab(scroll, QString());
    left->addWidget(m_mapCard);
    left->addWidget(m_tabs);
    left->setStretchFactor(0, 5);
    left->setStretchFactor(1, 4);
    left->setSizes({500, 400});
    return left;
}

NumericsPage::Page NumericsPage::addPage(const char* name, QWidget* above) {
    Page page{new QStackedWidget(this), new QLabel(this), new ValueTableModel(this), nullptr};
    page.view = makeValueView(page.model, name, this);
    page.sentence->setWordWrap(true);
    page.sentence->setAlignment(Qt::AlignCenter);
    page.sentence->setMargin(16);
    page.sentence->setProperty("muted", true);
    page.sentence->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* table = new QWidget(this);
    auto* column = new QVBoxLayout(table);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    if (above) {
        column->addWidget(above);
    }
    column->addWidget(page.view, 1);
    page.stack->addWidget(page.sentence);
    page.stack->addWidget(table);
    m_tabs->addTab(page.stack, QString());
    return page;
}

void NumericsPage::connectParts() {
    connect(m_reader, &NumericsReader::changed, this, &NumericsPage::refresh);
    connect(m_modes, &ChoiceRow::chosen, this, &NumericsPage::chooseRun);
    connect(m_roles, &ChoiceRow::chosen, this, [this](int role) { chooseRole(tensorRoles[static_cast<std::size_t>(role)]); });
    connect(m_quantity, &QComboBox::currentIndexChanged, this, &NumericsPage::refreshHeat);
    connect(m_format, &QComboBox::currentIndexChanged, this, [this] {
        m_tensor->setFormat(format());
        refreshHeat();
    });
    connect(m_map, &HeatMap::picked, this, [this](const QString& tensor, qint64 step) { pick(tensor.toStdString(), step); });
    connect(m_map, &HeatMap::readoutChanged, m_mapCard, &TwinCard::setReadout);
    connect(m_mapCard, &TwinCard::tableShown, this, &NumericsPage::refreshHeat);
    connect(&m_mapCard->view(), &QTableView::activated, this, [this](const QModelIndex& index) {
        const QModelIndex tensor = index.siblingAtColumn(0), step = index.siblingAtColumn(1);
        pick(tensor.data().toString().toStdString(), static_cast<std::int64_t>(step.data(ValueTableModel::SortRole).toDouble()));
    });
    connect(m_watch, &WatchSwitch::levelChosen, this, &NumericsPage::watchRequested);
    connect(m_against, &QComboBox::activated, this, [this] { refreshOps(chosenRun()); });
}

void NumericsPage::showFolder(const std::filesystem::path& folder) {
    NumericsRequest request;
    request.folder = folder;
    request.role = m_reader->request().role;
    ask(std::move(request));
}

void NumericsPage::setLanguage(const std::string& language) {
    m_language = language;
    refreshTables();
}

void NumericsPage::setControl(bool isAvailable, const QString& reason) {
    m_canControl = isAvailable;
    m_controlReason = reason;
    m_watch->show(chosenRun(), m_canControl, m_controlReason);
}

void NumericsPage::chooseRun(int run) {
    NumericsRequest request = m_reader->request();
    request.run = static_cast<std::size_t>(std::max(0, run));
    ask(std::move(request));
}

void NumericsPage::chooseRole(TensorRole role) {
    NumericsRequest request = m_reader->request();
    request.role = role;
    request.tensor.clear();
    m_roles->setCurrent(static_cast<int>(roleIndex(role)));
    ask(std::move(request));
}

void NumericsPage::chooseQuantity(HeatQuantity quantity) {
    m_quantity->setCurrentIndex(static_cast<int>(std::find(allHeatQuantities.begin(), allHeatQuantities.end(), quantity) - allHeatQuantities.begin()));
}

void NumericsPage::chooseFormat(NumberFormat format) { m_format->setCurrentIndex(static_cast<int>(lensIndex(format))); }

HeatQuantity NumericsPage::quantity() const { return allHeatQuantities[static_cast<std::size_t>(std::max(0, m_quantity->currentIndex()))]; }

NumberFormat NumericsPage::format() const { return lensFormats[static_cast<std::size_t>(std::max(0, m_format->currentIndex()))]; }

void NumericsPage::ask(NumericsRequest request) { m_reader->setRequest(request); }

void NumericsPage::pick(const std::string& tensor, std::optional<std::int64_t> step) {
    NumericsRequest request = m_reader->request();
    request.tensor = tensor;
    request.step = step;
    // The last recorded step goes on with the run.
    if (const TensorHeat* heat = m_map->heat(); heat && !heat->isEmpty() && step == heat->columns().back().last) {
        request.step.reset();
    }
    ask(std::move(request));
}

const RunFacts* NumericsPage::chosenRun() const {
    const NumericsSnapshot& snapshot = m_reader->snapshot();
    return snapshot.request.run < snapshot.runs.size() ? &snapshot.runs[snapshot.request.run] : nullptr;
}

void NumericsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_reader->setActive(true);
}

void NumericsPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_reader->setActive(false);
}

void NumericsPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    }
}

void NumericsPage::retranslate() {
    m_modes->setLabel(tr("Mode"));
    m_roles->setLabel(tr("Tensors"));
    std::vector<QString> roles;
    for (const TensorRole role : tensorRoles) {
        roles.push_back(roleName(role));
    }
    m_roles->setChoices(roles);
    m_roles->setCurrent(static_cast<int>(roleIndex(m_reader->request().role)));
    m_quantity->setAccessibleName(tr("What the heat map shows"));
    m_formatLabel->setText(tr("Seen &in"));
    const QString tips[] = {tr("Bits between the largest value and the largest one of the format: 0 is the brink"),
                            tr("Share of the values that are not 0 here and become 0 in the format"),
                            tr("How much louder the values are than the rounding errors of the format, predicted"),
                            tr("Share of NaN, +Inf and −Inf"),
                            tr("Share of the weights with a gradient that an update leaves as they were")};
    for (std::size_t i = 0; i < allHeatQuantities.size(); ++i) {
        m_quantity->setItemText(static_cast<int>(i), quantityName(allHeatQuantities[i]));
        m_quantity->setItemData(static_cast<int>(i), tips[i], Qt::ToolTipRole);
    }
    m_mapCard->setTitle(tr("Tensors over steps"));
    m_tabs->setTabText(0, tr("Ops and dtypes"));
    m_tabs->setTabText(1, tr("Weights that don't move"));
    m_tabs->setTabText(2, tr("Local error"));
    m_tabs->setTabText(3, tr("Forecast"));
    m_tabs->setTabToolTip(3, tr("What fp16, bf16 and fp8 would meet, told from the run in mode no"));
    m_againstLabel->setText(tr("Difference &to"));
    m_ops.view->setAccessibleName(tr("Calls of every op by the dtype of its results"));
    m_updates.view->setAccessibleName(tr("Weights that an update leaves as they were"));
    m_local.view->setAccessibleName(tr("Rounding error of every layer against fp32 on the same batch"));
    m_tensor->setEmptyText(tr("Choose a tensor and a step in the heat map to see where its values lie."));
    refresh();
}

void NumericsPage::refresh() {
    const NumericsSnapshot& snapshot = m_reader->snapshot();
    std::vector<QString> modes;
    for (const RunFacts& run : snapshot.runs) {
        modes.push_back(modeName(run));
    }
    m_modes->setChoices(modes);
    m_modes->setCurrent(static_cast<int>(snapshot.request.run));
    m_modes->setVisible(!modes.empty());
    m_watch->show(chosenRun(), m_canControl, m_controlReason);
    m_map->setHeat(snapshot.heat);
    m_map->setEmptyText(emptyHeatText(snapshot));
    if (snapshot.pick) {
        m_map->setCurrent(snapshot.pick->row.tensor, snapshot.pick->row.step);
    }
    m_tensor->setPick(snapshot.pick);
    refreshHeat();
    refreshTables();
}

void NumericsPage::refreshHeat() {
    const bool hasFormat = quantity() != HeatQuantity::NonfiniteShare && quantity() != HeatQuantity::UnmovedShare;
    m_format->setEnabled(hasFormat || m_reader->snapshot().pick);  // the tensor on the right has a format in any case
    m_quantity->setToolTip(m_quantity->currentData(Qt::ToolTipRole).toString());
    m_map->setShown(quantity(), format());
    m_mapCard->setReadout(m_map->readout());
    if ((m_mapCard->isTableShown() || sender() == m_mapCard) && m_map->heat()) {
        m_mapCard->model().setTable(heatTable(*m_map->heat(), quantity(), format()));
    }
}

void NumericsPage::fillPage(const Page& page, ValueTable table, const QString& emptyText) {
    const bool isEmpty = table.rows.empty();
    page.sentence->setText(emptyText);
    page.model->setTable(std::move(table));
    page.stack->setCurrentIndex(isEmpty ? 0 : 1);
}

void NumericsPage::refreshTables() {
    const RunFacts* run = chosenRun();
    refreshOps(run);
    fillPage(m_updates, run ? updateTable(*run) : ValueTable{}, emptyUpdatesText(run));
    fillPage(m_local, run ? localErrorTable(*run) : ValueTable{}, emptyLocalErrorsText(run));
    m_forecast->setText(forecastText(m_reader->snapshot(), m_language));
}

void NumericsPage::refreshOps(const RunFacts* run) {
    const NumericsSnapshot& snapshot = m_reader->snapshot();
    std::vector<std::pair<QString, int>> items{{tr("nothing"), nobody}};
    for (std::size_t i = 0; i < snapshot.runs.size(); ++i) {
        if (i != snapshot.request.run && !snapshot.runs[i].ops.empty()) {
            items.emplace_back(modeName(snapshot.runs[i]), static_cast<int>(i));
        }
    }
    setItems(*m_against, items);
    const int against = m_against->currentData().toInt();
    const std::vector<OpDtypeRow>* other = against == nobody ? nullptr : &snapshot.runs[static_cast<std::size_t>(against)].ops;
    std::vector<LinearLayer> layers;
    if (run != nullptr && run->meta.contains(meta::linear_layers)) {
        layers = linear_layers_of(run->meta.at(meta::linear_layers));
    }
    m_opSentence->setText(run ? opSentence(run->ops, modeName(*run), layers) : QString());
    fillPage(m_ops, run && !run->ops.empty() ? opTable(run->ops, other) : ValueTable{}, emptyOpsText(run));
}

}  // namespace mantissa::ui
