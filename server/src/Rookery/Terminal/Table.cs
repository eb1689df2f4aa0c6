using System.Text;
using Rookery.Hosting.Logging;
using Rookery.Json;

namespace Rookery.Terminal;

/// <summary>
/// Formats rows in columns. A column is as wide as its longest cell, and the table at most as wide as the terminal.
/// </summary>
/// <param name="columns">The column names. A name that begins with '&gt;' makes its column right-aligned, as for
/// numbers.</param>
internal sealed class Table(params string[] columns)
{
    private const int Gap = 2;
    private const int NarrowestColumn = 8;

    private readonly string[] _heads = [.. columns.Select(VisibleText.OfLine)];
    private readonly List<string[]> _rows = [];

    public int Rows => _rows.Count;

    /// <summary>Adds a row. Escapes control characters in its cells.</summary>
    public void Add(params string[] cells) => _rows.Add([.. cells.Select(VisibleText.OfLine)]);

    /// <summary>Returns the lines, the heading first.</summary>
    /// <param name="width">The terminal's width in characters; null for no limit.</param>
    /// <param name="paint">Colours the heading.</param>
    public IEnumerable<string> Lines(int? width, Paint paint)
    {
        string[] names = [.. _heads.Select(static head => head.TrimStart('>'))];
        int[] widths =
        [
            .. names.Select(
                (name, column) =>
                    Math.Max(CellWidth.Of(name), _rows.Count == 0 ? 0 : _rows.Max(row => CellWidth.Of(row[column])))
            ),
        ];
        if (width is { } room)
        {
            Narrow(widths, room);
        }

        yield return paint.Bold(Cut(Line(names, widths), width ?? int.MaxValue));
        foreach (string[] row in _rows)
        {
            yield return Cut(Line(row, widths), width ?? int.MaxValue);
        }
    }

    /// <summary>Cuts a text to a number of cells; an ellipsis replaces the rest.</summary>
    public static string Cut(string text, int width)
    {
        if (text.Length <= width / CellWidth.Widest || CellWidth.Of(text) <= width)
        {
            return text;
        }

        // Each letter has at least one cell, except marks; the loop shortens texts with wide letters.
        for (int length = Math.Min(width - 1, text.Length); length > 0; length--)
        {
            string shorter = ShortText.Of(text, length);
            if (CellWidth.Of(shorter) <= width)
            {
                return shorter;
            }
        }

        return "…";
    }

    /// <summary>Narrows the widest columns first, until the table fits or every column has its minimum.</summary>
    private static void Narrow(int[] widths, int room)
    {
        int excess = widths.Sum() + (Gap * (widths.Length - 1)) - room;
        while (excess > 0)
        {
            int widest = Array.IndexOf(widths, widths.Max());
            if (widths[widest] <= NarrowestColumn)
            {
                return;
            }

            int secondWidest = widths.Where((_, column) => column != widest).DefaultIfEmpty(0).Max();
            int reduction = Math.Clamp(widths[widest] - Math.Max(secondWidest, NarrowestColumn), 1, excess);
            widths[widest] -= reduction;
            excess -= reduction;
        }
    }

    private string Line(string[] cells, int[] widths)
    {
        var line = new StringBuilder();
        for (int column = 0; column < cells.Length; column++)
        {
            string cell = Cut(cells[column], widths[column]);
            int blanks = Math.Max(0, widths[column] - CellWidth.Of(cell));
            bool isRight = _heads[column].StartsWith('>');
            line.Append(' ', isRight ? blanks : 0).Append(cell).Append(' ', isRight ? Gap : blanks + Gap);
        }

        return line.ToString().TrimEnd();
    }
}
