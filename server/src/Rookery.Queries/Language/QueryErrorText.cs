using System.Globalization;
using Rookery.Json;

namespace Rookery.Queries.Language;

/// <summary>
/// Formats an error for the author of a query: the message, the line, and a caret below the position.
/// </summary>
public static class QueryErrorText
{
    // Maximum characters shown of the line before the position, and of the whole line.
    private const int CharactersBefore = 100;
    private const int CharactersShown = 160;

    /// <summary>Returns the text of an error. Shows a long line only around the position.</summary>
    public static string Of(QueryException error, string query)
    {
        ArgumentNullException.ThrowIfNull(error);
        ArgumentNullException.ThrowIfNull(query);
        if (error.Position < 0)
        {
            return error.Message;
        }

        int position = Math.Min(error.Position, query.Length);
        int start = position == 0 ? 0 : query.LastIndexOf('\n', position - 1) + 1;
        int end = query.IndexOf('\n', position);
        var line = query.AsSpan(start, (end < 0 ? query.Length : end) - start).TrimEnd('\r');
        int lineNumber = query.AsSpan(0, start).Count('\n') + 1;
        int column = position - start;
        int firstShown = ShortText.BoundaryAt(line, Math.Clamp(column - CharactersBefore, 0, line.Length));
        int endShown = ShortText.BoundaryAt(line, Math.Min(firstShown + CharactersShown, line.Length));
        var shown = line[firstShown..endShown];
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{error.Message}\nLine {lineNumber}, column {column + 1}:\n{shown}"
                + $"\n{Blanks(query.AsSpan(start + firstShown, column - firstShown))}^"
        );
    }

    /// <summary>
    /// Returns blanks as wide as the text before the position, with its tabs, so that the caret is below the position.
    /// </summary>
    private static string Blanks(ReadOnlySpan<char> before) =>
        string.Create(
            before.Length,
            before,
            static (blanks, text) =>
            {
                for (int i = 0; i < text.Length; i++)
                {
                    blanks[i] = text[i] == '\t' ? '\t' : ' ';
                }
            }
        );
}
