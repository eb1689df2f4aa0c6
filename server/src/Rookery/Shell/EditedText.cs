using System.Globalization;

namespace Rookery.Shell;

/// <summary>
/// The text that a user types, of one or several lines, with a cursor. Movements keep characters together that are
/// drawn as one.
/// </summary>
internal sealed class EditedText
{
    /// <summary>The maximum number of characters; what is typed or pasted beyond it is dropped.</summary>
    public const int MaxCharacters = 64 << 10;

    private string _removed = string.Empty;

    /// <summary>The text.</summary>
    public string Text { get; private set; } = string.Empty;

    /// <summary>The position of the cursor in the text.</summary>
    public int Cursor { get; private set; }

    private int LineStart => Cursor == 0 ? 0 : Text.LastIndexOf('\n', Cursor - 1) + 1;

    private int LineEnd => Text.IndexOf('\n', Cursor) is >= 0 and var end ? end : Text.Length;

    /// <summary>Returns a text of one line without its last character, as it is drawn.</summary>
    public static string WithoutLast(string text) => text[..StringInfo.ParseCombiningCharacters(text).LastOrDefault()];

    /// <summary>Replaces the text and moves the cursor to its end.</summary>
    public void Set(string text) => (Text, Cursor) = (text, text.Length);

    /// <summary>Replaces a part of the text before the cursor.</summary>
    public void ReplaceFrom(int position, string replacement)
    {
        Text = string.Concat(Text.AsSpan(0, position), replacement, Text.AsSpan(Cursor));
        Cursor = position + replacement.Length;
    }

    /// <summary>Inserts a text at the cursor. Returns false if it does not fit.</summary>
    public bool Insert(string text)
    {
        if (Text.Length + text.Length > MaxCharacters)
        {
            return false;
        }

        Text = Text.Insert(Cursor, text);
        Cursor += text.Length;
        return true;
    }

    /// <summary>Inserts the text that was removed last.</summary>
    public void InsertRemoved() => Insert(_removed);

    public void MoveToLineStart() => Cursor = LineStart;

    public void MoveToLineEnd() => Cursor = LineEnd;

    public void MoveLeft() => Cursor = Before(Cursor);

    public void MoveRight() => Cursor = After(Cursor);

    public void MoveWordLeft() => Cursor = WordBefore();

    public void MoveWordRight() => Cursor = WordAfter();

    /// <summary>Moves to the previous line. Returns false in the first one.</summary>
    public bool MoveUp()
    {
        int start = LineStart;
        if (start == 0)
        {
            return false;
        }

        int column = Cursor - start;
        Cursor = start - 1;
        Cursor = Whole(Math.Min(LineStart + column, Cursor));
        return true;
    }

    /// <summary>Moves to the next line. Returns false in the last one.</summary>
    public bool MoveDown()
    {
        int column = Cursor - LineStart;
        int end = LineEnd;
        if (end == Text.Length)
        {
            return false;
        }

        Cursor = end + 1;
        Cursor = Whole(Math.Min(Cursor + column, LineEnd));
        return true;
    }

    public void RemoveBefore() => Remove(Before(Cursor), Cursor);

    public void RemoveAfter() => Remove(Cursor, After(Cursor));

    public void CutWordBefore() => Cut(WordBefore(), Cursor);

    public void CutWordAfter() => Cut(Cursor, WordAfter());

    public void CutToLineStart() => Cut(LineStart, Cursor);

    public void CutToLineEnd() => Cut(Cursor, Cursor == LineEnd ? After(Cursor) : LineEnd);

    private void Cut(int from, int to)
    {
        if (to > from)
        {
            _removed = Text[from..to];
            Remove(from, to);
        }
    }

    private void Remove(int from, int to)
    {
        Text = Text.Remove(from, to - from);
        Cursor = from;
    }

    private int After(int position) =>
        position == Text.Length ? position : position + StringInfo.GetNextTextElementLength(Text, position);

    private int Before(int position) =>
        position == 0
            ? 0
            : LastLineElements(position).LastOrDefault(start => start < position, defaultValue: position - 1);

    // The beginnings of the characters in the line that ends before the position.
    private IEnumerable<int> LastLineElements(int position)
    {
        int start = position < 2 ? 0 : Text.LastIndexOf('\n', position - 2) + 1;
        return StringInfo.ParseCombiningCharacters(Text[start..position]).Select(offset => start + offset);
    }

    // The position, or the beginning of the character that contains it.
    private int Whole(int position) =>
        position == 0 || position == Text.Length || Text[position - 1] == '\n' ? position
        : After(Before(position)) > position ? Before(position)
        : position;

    private int WordBefore()
    {
        int position = Cursor;
        while (position > 0 && !IsWord(Text[position - 1]))
        {
            position--;
        }

        while (position > 0 && IsWord(Text[position - 1]))
        {
            position--;
        }

        return Whole(position);
    }

    private int WordAfter()
    {
        int position = Cursor;
        while (position < Text.Length && !IsWord(Text[position]))
        {
            position++;
        }

        while (position < Text.Length && IsWord(Text[position]))
        {
            position++;
        }

        int start = Whole(position);
        return start < position ? After(start) : position;
    }

    private static bool IsWord(char letter) =>
        char.IsLetterOrDigit(letter)
        || letter == '_'
        || char.IsSurrogate(letter)
        || char.GetUnicodeCategory(letter)
            is UnicodeCategory.NonSpacingMark
                or UnicodeCategory.SpacingCombiningMark
                or UnicodeCategory.EnclosingMark;
}
