#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/report/drawing.h"

namespace slipstream {

/// What a report says, apart from how it is written: html_page and markdown_page write the same document.
/// Texts are plain, as they come from files; the writers escape them.

struct Cell {
  std::string text;
  std::optional<double> value;  ///< what a number's column is sorted by
};

struct Column {
  std::string title;
  bool is_number = false;
};

struct DataTable {
  std::string caption;
  std::vector<Column> columns;          ///< the first one names the row
  std::vector<std::vector<Cell>> rows;  ///< each has a cell a column
};

struct LegendEntry {
  std::string name;
  std::string style;  ///< as in drawing.h
};

struct Picture {
  std::string title;        ///< with the unit of what is drawn
  std::string description;  ///< its text alternative: what one would see, with the numbers that matter
  std::function<Drawing(double width)> draw;
  bool half = false;  ///< two stand side by side where there is room
  std::vector<LegendEntry> legend;
  std::string note;  ///< how it was made, for readers
  DataTable data;    ///< what stands behind it; none where it has no columns
};

struct Paragraph {
  std::string text;
};

/// The sentence that a person would quote.
struct Quote {
  std::string text;
};

using Block = std::variant<Paragraph, Quote, DataTable, Picture>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Document {
  std::string title;
  std::string subtitle;
  std::vector<Section> sections;
};

}  // namespace slipstream
