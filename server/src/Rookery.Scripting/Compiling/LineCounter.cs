namespace Rookery.Scripting.Compiling;

/// <summary>
/// Converts positions in a text to lines. Counts from the last position, because most follow each other.
/// </summary>
internal sealed class LineCounter(string text)
{
    private int _position;
    private int _line = 1;

    /// <summary>Returns the line of a position, from 1.</summary>
    /// <param name="position">The offset in the text, in characters.</param>
    public int LineAt(int position)
    {
        position = Math.Min(position, text.Length);
        _line +=
            position >= _position
                ? text.AsSpan(_position..position).Count('\n')
                : -text.AsSpan(position.._position).Count('\n');
        _position = position;
        return _line;
    }
}
