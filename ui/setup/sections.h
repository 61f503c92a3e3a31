#pragma once
// The folded sections below the trial: heads in a grid of three columns, each with a summary of what it
// holds; an open head shows its form below the grid.
#include <QWidget>
#include <functional>
#include <vector>

class QGridLayout;
class QVBoxLayout;

namespace mantissa::ui {

class CaptionButton;
class FieldForm;
class PlanEditor;
class Theme;

class Sections : public QWidget {
    Q_OBJECT
  public:
    Sections(const Theme& theme, PlanEditor& editor, QWidget* parent = nullptr);
    /// Opens the section that holds this field and puts the cursor there; false when no section has it.
    bool showField(const std::string& path);

  Q_SIGNALS:
    void opened(QWidget* body);

  private:
    struct Section {
        CaptionButton* head;
        QWidget* body;
        FieldForm* form;
        std::function<QString()> title, summary;
        std::vector<std::string> paths;
    };
    void add(const char* name, std::vector<std::string> paths, std::function<QString()> title,
             std::function<QString()> summary, std::function<QString()> note = {});
    void addCheckpoints();
    void addTraining();
    void addNumbers();
    void addWatching();
    void addRest();
    void refresh();

    const Theme& m_theme;
    PlanEditor& m_editor;
    std::vector<Section> m_sections;
    QGridLayout* m_heads;
    QVBoxLayout* m_bodies;
};

}  // namespace mantissa::ui
