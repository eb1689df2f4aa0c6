using System.Globalization;
using System.Text;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Shell;

/// <summary>
/// Lets a user type text at a prompt: editing as in readline's Emacs mode, over several lines, with history, search in
/// it, and completion. Keys arrive one by one only while a text is read, so that Ctrl+C is a signal at other times.
/// </summary>
/// <param name="keys">The keys.</param>
/// <param name="history">The earlier texts.</param>
/// <param name="complete">Completes the text before the cursor.</param>
/// <param name="write">Writes to the terminal.</param>
/// <param name="size">Returns the terminal's columns and rows.</param>
internal sealed class LineEditor(
    KeyReader keys,
    History history,
    Func<string, int, Completion> complete,
    Action<string> write,
    Func<(int Width, int Height)> size
)
{
    private const int MaxListed = 200;
    private const string BeginPastes = "\u001b[?2004h"; // pasted texts are marked
    private const string EndPastes = "\u001b[?2004l";

    private readonly TerminalSettings _settings = new();
    private readonly EditedText _edited = new();
    private string _prompt = string.Empty;
    private string _continuation = string.Empty;
    private int _drawnRow;
    private int _historyPlace;
    private string _unfinished = string.Empty;

    /// <summary>Reads a text. Ctrl+C abandons it.</summary>
    /// <param name="prompt">Stands before the first line.</param>
    /// <param name="continuation">Stands before the other lines.</param>
    /// <param name="isComplete">Whether Enter ends the text; otherwise it begins a line.</param>
    /// <returns>The text, without a line break at its end; empty if it was abandoned, and null at the end of the
    /// input.</returns>
    public string? Read(string prompt, string continuation, Func<string, bool> isComplete)
    {
        (_prompt, _continuation) = (prompt, continuation);
        _edited.Set(string.Empty);
        _historyPlace = history.Entries.Count;
        _drawnRow = 0;
        SetUp();
        try
        {
            Draw();
            return ReadKeys(isComplete);
        }
        finally
        {
            Restore();
        }
    }

    /// <summary>Restores the terminal, for a process that ends while a text is read.</summary>
    public void Restore()
    {
        _settings.Restore();
        write(EndPastes);
    }

    private void SetUp()
    {
        _settings.ReadEachKey(hasSignals: false);
        write(BeginPastes);
    }

    private string? ReadKeys(Func<string, bool> isComplete)
    {
        while (true)
        {
            var (key, text) = keys.Read();
            switch (key)
            {
                case EditKey.Enter when isComplete(_edited.Text):
                    Leave(string.Empty);
                    return _edited.Text;
                case EditKey.Abandon:
                    Leave("^C");
                    return string.Empty;
                case EditKey.End when _edited.Text.Length == 0:
                    Leave(string.Empty);
                    return null;
                case EditKey.Search:
                    Search();
                    break;
                case EditKey.Complete:
                    Complete();
                    break;
                case EditKey.ClearScreen:
                    write("\u001b[H\u001b[2J");
                    _drawnRow = 0;
                    break;
                case EditKey.Suspend:
                    Leave("^Z");
                    Restore();
                    TerminalSettings.StopProcess();
                    SetUp();
                    break;
                default:
                    Edit(key, text);
                    break;
            }

            Draw();
        }
    }

    private void Edit(EditKey key, string text)
    {
        switch (key)
        {
            case EditKey.Text:
                if (!_edited.Insert(text))
                {
                    write("\a");
                }

                break;
            case EditKey.Enter:
                _edited.Insert("\n");
                break;
            case EditKey.Left:
                _edited.MoveLeft();
                break;
            case EditKey.Right:
                _edited.MoveRight();
                break;
            case EditKey.WordLeft:
                _edited.MoveWordLeft();
                break;
            case EditKey.WordRight:
                _edited.MoveWordRight();
                break;
            case EditKey.LineStart:
                _edited.MoveToLineStart();
                break;
            case EditKey.LineEnd:
                _edited.MoveToLineEnd();
                break;
            case EditKey.Up when !_edited.MoveUp():
                Recall(_historyPlace - 1);
                break;
            case EditKey.Down when !_edited.MoveDown():
                Recall(_historyPlace + 1);
                break;
            case EditKey.RemoveBefore:
                _edited.RemoveBefore();
                break;
            case EditKey.RemoveAfter or EditKey.End:
                _edited.RemoveAfter();
                break;
            case EditKey.CutWordBefore:
                _edited.CutWordBefore();
                break;
            case EditKey.CutWordAfter:
                _edited.CutWordAfter();
                break;
            case EditKey.CutToLineStart:
                _edited.CutToLineStart();
                break;
            case EditKey.CutToLineEnd:
                _edited.CutToLineEnd();
                break;
            case EditKey.InsertRemoved:
                _edited.InsertRemoved();
                break;
        }
    }

    /// <summary>Shows the history's entry at a place; after the last one, the text that was typed.</summary>
    private void Recall(int place)
    {
        int count = history.Entries.Count;
        if (place < 0 || place > count)
        {
            return;
        }

        if (_historyPlace == count)
        {
            _unfinished = _edited.Text;
        }

        _historyPlace = place;
        _edited.Set(place == count ? _unfinished : history.Entries[place]);
    }

    /// <summary>Searches the history backwards for what is typed, until another key than Ctrl+R.</summary>
    private void Search()
    {
        string typed = string.Empty;
        int place = history.Entries.Count;
        string original = _edited.Text;
        while (true)
        {
            DrawSearch(typed);
            var (key, text) = keys.Read();
            switch (key)
            {
                case EditKey.Text:
                    typed += text;
                    place = Find(typed, Math.Min(place, history.Entries.Count - 1), place);
                    break;
                case EditKey.RemoveBefore:
                    typed = EditedText.WithoutLast(typed);
                    place = Find(typed, history.Entries.Count - 1, history.Entries.Count);
                    break;
                case EditKey.Search:
                    place = Find(typed, place - 1, place);
                    break;
                case EditKey.Abandon or EditKey.Escape:
                    _edited.Set(original);
                    return;
                default:
                    _historyPlace = place;
                    return;
            }

            if (place < history.Entries.Count)
            {
                _edited.Set(history.Entries[place]);
            }
        }
    }

    private int Find(string typed, int from, int otherwise)
    {
        for (int place = from; place >= 0 && typed.Length > 0; place--)
        {
            if (history.Entries[place].Contains(typed, StringComparison.OrdinalIgnoreCase))
            {
                return place;
            }
        }

        write("\a");
        return otherwise;
    }

    private void DrawSearch(string typed)
    {
        string prompt = _prompt;
        _prompt = $"(search: {VisibleText.OfLine(typed)}) ";
        Draw();
        _prompt = prompt;
    }

    private void Complete()
    {
        var found = complete(_edited.Text, _edited.Cursor);
        if (found.Candidates.Count == 0)
        {
            write("\a");
            return;
        }

        string typed = _edited.Text[found.From.._edited.Cursor];
        string common = found.CommonBeginning;
        if (found.Candidates.Count == 1 || common.Length > typed.Length)
        {
            // A name that is complete is followed by a blank, as in a shell.
            bool isWhole = found.Candidates.Count == 1 && !common.EndsWith('(');
            _edited.ReplaceFrom(found.From, isWhole ? $"{common} " : common);
            return;
        }

        Leave(string.Empty);
        string[] names = [.. found.Candidates.Take(MaxListed).Select(VisibleText.OfLine)];
        write(InColumns(names, size().Width));
        if (found.Candidates.Count > MaxListed)
        {
            write($"… and {found.Candidates.Count - MaxListed} more\r\n");
        }
    }

    private static string InColumns(string[] names, int width)
    {
        const int Gap = 2;
        int column = Math.Min(names.Max(static name => CellWidth.Of(name)) + Gap, width);
        int columns = Math.Max(1, width / column);
        int rows = (names.Length + columns - 1) / columns;
        var text = new StringBuilder();
        for (int row = 0; row < rows; row++)
        {
            var line = new StringBuilder();
            for (int place = row; place < names.Length; place += rows)
            {
                line.Append(names[place]).Append(' ', Math.Max(0, column - CellWidth.Of(names[place])));
            }

            text.Append(line.ToString().TrimEnd()).Append("\r\n");
        }

        return text.ToString();
    }

    private void Draw()
    {
        var (width, height) = size();
        var drawn = DrawnText.Of(_prompt, _continuation, _edited.Text, _edited.Cursor, width, height);
        var frame = new StringBuilder("\u001b[?25l");
        MoveUp(frame, _drawnRow);
        frame.Append("\r\u001b[J").AppendJoin("\r\n", drawn.Rows);
        MoveUp(frame, drawn.Rows.Count - 1 - drawn.CursorRow);
        frame.Append('\r');
        if (drawn.CursorColumn > 0)
        {
            frame.Append(CultureInfo.InvariantCulture, $"\u001b[{drawn.CursorColumn}C");
        }

        _drawnRow = drawn.CursorRow;
        write(frame.Append("\u001b[?25h").ToString());
    }

    /// <summary>Moves the terminal's cursor below the text.</summary>
    private void Leave(string mark)
    {
        var (width, height) = size();
        var (text, cursor) = (_edited.Text, _edited.Cursor);
        var drawn = DrawnText.Of(_prompt, _continuation, text, cursor, width, height);
        int below = drawn.Rows.Count - 1 - _drawnRow;
        string down = below > 0 ? $"\u001b[{below}B" : string.Empty;
        int end = CellWidth.Of(drawn.Rows[^1]);
        string right = end > 0 ? $"\u001b[{end}C" : string.Empty;
        write($"{down}\r{right}{mark}\r\n");
        _drawnRow = 0;
    }

    private static void MoveUp(StringBuilder frame, int rows)
    {
        if (rows > 0)
        {
            frame.Append(CultureInfo.InvariantCulture, $"\u001b[{rows}A");
        }
    }
}
