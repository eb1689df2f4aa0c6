using System.Globalization;
using System.Text;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Shell;

/// <summary>The rows in which an edited text is drawn, and the place of the cursor.</summary>
/// <param name="Rows">The rows, each at most as wide as the terminal.</param>
/// <param name="CursorRow">The index of the cursor's row.</param>
/// <param name="CursorColumn">The cursor's column, from 0.</param>
internal sealed record DrawnText(IReadOnlyList<string> Rows, int CursorRow, int CursorColumn)
{
    private const string Tab = "  ";

    /// <summary>
    /// Lays out a text: breaks long lines, and replaces characters that would control the terminal by escapes.
    /// </summary>
    /// <param name="prompt">Stands before the first line.</param>
    /// <param name="continuation">Stands before the other lines.</param>
    /// <param name="text">The text.</param>
    /// <param name="cursor">The cursor's position in the text.</param>
    /// <param name="width">The columns of the terminal.</param>
    /// <param name="height">The rows of the terminal. Of a longer text, those around the cursor are drawn.</param>
    public static DrawnText Of(string prompt, string continuation, string text, int cursor, int width, int height)
    {
        var rows = new List<StringBuilder> { new(prompt) };
        int column = CellWidth.Of(prompt);
        var place = (Row: 0, Column: column);
        for (int position = 0; ; )
        {
            if (position == cursor)
            {
                if (column >= width)
                {
                    rows.Add(new StringBuilder());
                    column = 0;
                }

                place = (rows.Count - 1, column);
            }

            if (position >= text.Length)
            {
                break;
            }

            if (text[position] == '\n')
            {
                rows.Add(new StringBuilder(continuation));
                column = CellWidth.Of(continuation);
                position++;
                continue;
            }

            int length = StringInfo.GetNextTextElementLength(text, position);
            string letter = text[position] == '\t' ? Tab : VisibleText.Of(text.Substring(position, length));
            int cells = CellWidth.Of(letter);
            if (column + cells > width)
            {
                rows.Add(new StringBuilder());
                column = 0;
            }

            rows[^1].Append(letter);
            column += cells;
            position += length;
        }

        int first = Math.Clamp(place.Row - height + 1, 0, Math.Max(0, rows.Count - height));
        return new DrawnText(
            [.. rows.Skip(first).Take(height).Select(static row => row.ToString())],
            place.Row - first,
            place.Column
        );
    }
}
