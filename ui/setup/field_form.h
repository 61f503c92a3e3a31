#pragma once
// A form made from the table of settings: one labelled editor per path, the refusal beside it, the source of
// its value in the tool tip. Two columns of fields where there is room. Fields can be hidden (those of
// another optimizer or schedule).
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

class QLabel;

namespace mantissa {
struct PlanField;
}

namespace mantissa::ui {

class PlanEditor;

/// One field: editor and error. Commits when the editing is finished, or at once for choices and switches.
class FieldEdit : public QWidget {
    Q_OBJECT
  public:
    FieldEdit(PlanEditor& editor, const std::string& path, QWidget* parent = nullptr);
    void refresh();
    void showError();
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] QWidget* input() const { return m_input; }
    [[nodiscard]] QString shownError() const;

  private:
    void makeInput(const PlanField& field);
    void refreshChoice();
    void refreshToolTip();

    PlanEditor& m_editor;
    const std::string m_path;
    QWidget* m_input = nullptr;
    QLabel* m_error;
};

class FieldForm : public QWidget {
    Q_OBJECT
  public:
    FieldForm(PlanEditor& editor, const std::vector<std::string>& paths, QWidget* parent = nullptr);
    /// Says which fields belong to the plan as it is now; asked after every change.
    void setVisibleWhen(std::function<bool(const std::string& path)> rule);
    [[nodiscard]] FieldEdit* field(const std::string& path) const;

  private:
    struct Row {
        QLabel* label;
        FieldEdit* edit;
    };
    void arrange();

    PlanEditor& m_editor;
    std::vector<Row> m_rows;
    std::function<bool(const std::string&)> m_rule;
};

}  // namespace mantissa::ui
