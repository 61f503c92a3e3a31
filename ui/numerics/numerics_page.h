#pragma once
// Numerics: the tensors of the comparison or run that Live shows, through the eyes of each format. Heat map and tables on the left, one
// tensor on the right. Everything comes from the recording; NumericsReader reads it while the page is seen.
#include <QWidget>
#include <filesystem>

#include "ui/bridge/theme.h"
#include "ui/numerics/numerics_reader.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QTabWidget;
class QTableView;

namespace mantissa::ui {

class ChoiceRow;
class HeatMap;
class TensorPanel;
class TwinCard;
class ValueTableModel;
struct ValueTable;
class WatchSwitch;

class NumericsPage : public QWidget {
    Q_OBJECT
  public:
    explicit NumericsPage(Theme& theme, QWidget* parent = nullptr);
    ~NumericsPage() override;

    /// A comparison or run folder; empty: nothing.
    void showFolder(const std::filesystem::path& folder);
    /// Of the forecast's sentences: "en" or "zh".
    void setLanguage(const std::string& language);
    /// Whether the level of watching can be switched; `reason` says why not.
    void setControl(bool isAvailable, const QString& reason);
    void chooseRun(int run);
    void chooseRole(TensorRole role);
    void chooseQuantity(HeatQuantity quantity);
    void chooseFormat(NumberFormat format);
    [[nodiscard]] const NumericsReader& reader() const { return *m_reader; }
    [[nodiscard]] TensorPanel& tensorPanel() { return *m_tensor; }

  Q_SIGNALS:
    void watchRequested(int level);

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    struct Page {  // a tab: a table, or the sentence why it is empty
        QStackedWidget* stack;
        QLabel* sentence;
        ValueTableModel* model;
        QTableView* view;
    };
    QWidget* buildControls();
    QWidget* buildLeft();
    Page addPage(const char* name, QWidget* above = nullptr);
    void connectParts();
    void retranslate();
    void refresh();
    void refreshHeat();
    void refreshTables();
    void refreshOps(const RunFacts* run);
    void fillPage(const Page& page, ValueTable table, const QString& emptyText);
    void ask(NumericsRequest request);
    void pick(const std::string& tensor, std::optional<std::int64_t> step);
    [[nodiscard]] const RunFacts* chosenRun() const;
    [[nodiscard]] HeatQuantity quantity() const;
    [[nodiscard]] NumberFormat format() const;

    Theme& m_theme;
    NumericsReader* m_reader;
    ChoiceRow* m_modes;
    ChoiceRow* m_roles;
    QComboBox* m_quantity;
    QLabel* m_formatLabel;
    QComboBox* m_format;
    WatchSwitch* m_watch;
    HeatMap* m_map;
    TwinCard* m_mapCard;
    TensorPanel* m_tensor;
    QTabWidget* m_tabs;
    QLabel* m_opSentence;
    QLabel* m_againstLabel;
    QComboBox* m_against;
    Page m_ops, m_updates, m_local;
    QLabel* m_forecast;
    std::string m_language = "en";
    bool m_canControl = false;
    QString m_controlReason;
};

}  // namespace mantissa::ui
