#pragma once
// What is folded away below the charts: a row of openers, and under it whatever they open. Left: openers. Right: fairness.
#include <QWidget>
#include <vector>

class QHBoxLayout;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace mantissa::ui {

class FoldRow : public QWidget {
    Q_OBJECT
  public:
    explicit FoldRow(QWidget* parent = nullptr);

    /// Takes `content`; hidden until opened.
    void addFold(const QString& name, QWidget* content);
    void renameFold(QWidget* content, const QString& name);
    void setNote(const QString& html, const QString& toolTip);

    /// Which folds are open, in their order; to be given back after the page was made anew.
    [[nodiscard]] std::vector<bool> openFolds() const;
    void setOpenFolds(const std::vector<bool>& open);

  Q_SIGNALS:
    void opened(QWidget* content);

  private:
    struct Fold {
        QString name;
        QToolButton* opener;
        QWidget* content;
    };
    static void updateText(const Fold& fold);

    QHBoxLayout* m_row;
    QVBoxLayout* m_contents;
    QLabel* m_note;
    std::vector<Fold> m_folds;
};

}  // namespace mantissa::ui
