using System.Text;
using Rookery.Hosting.Logging;

namespace Rookery.Terminal;

/// <summary>Rows in columns, as wide as their longest cell, and all together no wider than the terminal.</summary>
/// <param name="columns">Their names. One that begins with '&gt;' is set to the right, as numbers are.</param>
internal sealed class Table(params string[] columns)
{
    private const int Gap = 2;
    private const int NarrowestColumn = 8;

    private readonly string[] _heads = [.. columns.Select(VisibleText.OfLine)];
    private readonly List<string[]> _rows = [];

    public int Rows => _rows.Count;

    /// <summary>Adds a row. Names and cells may be the text of others.</summary>
    public void Add(params string[] cells) => _rows.Add([.. cells.Select(VisibleText.OfLine)]);

    /// <summary>The lines, the heads first.</summary>
    /// <param name="width">Columns of the terminal; null where nothing is cut.</param>
    /// <param name="paint">For the heads.</param>
    public IEnumerable<string> Lines(int? width, Paint paint)
    {
        string[] names = [.. _heads.Select(static head => head.TrimStart('>'))];
        int[] widths =
        [
            .. names.Select(
                (name, column) => Math.Max(name.Length, _rows.Count == 0 ? 0 : _rows.Max(row => row[column].Length))
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

    /// <summary>A text of at most so many characters; what is cut shows as an ellipsis.</summary>
    public static string Cut(string text, int width) =>
        text.Length <= width ? text
        : width <= 1 ? "…"
        : $"{text.AsSpan(0, width - 1)}…";

    /// <summary>The widest column gives first, until all fit or all are narrow.</summary>
    private static void Narrow(int[] widths, int room)
    {
        for (int over = widths.Sum() + (Gap * (widths.Length - 1)) - room; over > 0; )
        {
            int widest = Array.IndexOf(widths, widths.Max());
            if (widths[widest] <= NarrowestColumn)
            {
                return;
            }

            int second = widths.Where((_, column) => column != widest).DefaultIfEmpty(0).Max();
            int less = Math.Clamp(widths[widest] - Math.Max(second, NarrowestColumn), 1, over);
            widths[widest] -= less;
            over -= less;
        }
    }

    private string Line(string[] cells, int[] widths)
    {
        var line = new StringBuilder();
        for (int column = 0; column < cells.Length; column++)
        {
            string cell = Cut(cells[column], widths[column]);
            line.Append(_heads[column].StartsWith('>') ? cell.PadLeft(widths[column]) : cell.PadRight(widths[column]))
                .Append(' ', Gap);
        }

        return line.ToString().TrimEnd();
    }
}
