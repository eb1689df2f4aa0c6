using System.Globalization;
using System.Text;

namespace Rookery.Json;

/// <summary>
/// Finds the words for a place in JSON text. Only errors need them, so the text is walked again instead of keeping them
/// while parsing.
/// </summary>
public static class JsonPlace
{
    /// <summary>Longest path put into an answer.</summary>
    private const int MaxPathCharacters = 256;

    /// <summary>
    /// Levels looked at: text that is refused for another reason may open millions of brackets. An envelope and the
    /// deepest document fit.
    /// </summary>
    private const int MaxLevels = JsonLimits.MaxDepth + 8;

    /// <summary>Describes a place.</summary>
    /// <param name="json">The text; valid up to the place.</param>
    /// <param name="offset">The place.</param>
    public static InputPlace Locate(ReadOnlySpan<byte> json, int offset)
    {
        ReadOnlySpan<byte> before = json[..Math.Min(offset, json.Length)];
        return new InputPlace(offset, before.Count((byte)'\n') + 1, PathAt(before));
    }

    /// <summary>The path of the member or element that is open at the end of <paramref name="json"/>.</summary>
    private static string PathAt(ReadOnlySpan<byte> json)
    {
        var open = new Stack<Level>();
        Range lastString = default;
        for (int at = 0; at < json.Length && open.Count <= MaxLevels; )
        {
            switch (json[at])
            {
                case (byte)'"':
                    int end = EndOfString(json, at);
                    lastString = (at + 1)..Math.Max(at + 1, end - 1);
                    at = end;
                    continue;
                case (byte)':' when open.Count > 0:
                    open.Pop();
                    open.Push(new Level(lastString, -1));
                    break;
                case (byte)'{':
                    open.Push(new Level(default, -1));
                    break;
                case (byte)'[':
                    open.Push(new Level(default, 0));
                    break;
                case (byte)',' when open.Count > 0:
                    int index = open.Pop().Index;
                    open.Push(new Level(default, index < 0 ? -1 : index + 1));
                    break;
                case (byte)'}' or (byte)']' when open.Count > 0:
                    open.Pop();
                    break;
                default:
                    break;
            }

            at++;
        }

        return Join(json, open);
    }

    private static string Join(ReadOnlySpan<byte> json, Stack<Level> open)
    {
        var path = new StringBuilder("$");
        foreach (Level level in open.Reverse())
        {
            if (level.Index >= 0)
            {
                path.Append(CultureInfo.InvariantCulture, $"[{level.Index}]");
            }
            else if (level.Key.End.Value > 0)
            {
                path.Append('.').Append(Encoding.UTF8.GetString(json[level.Key]));
            }

            if (path.Length > MaxPathCharacters)
            {
                return path.ToString(0, MaxPathCharacters) + "…";
            }
        }

        return path.ToString();
    }

    private static int EndOfString(ReadOnlySpan<byte> json, int quote)
    {
        for (int at = quote + 1; at < json.Length; at++)
        {
            if (json[at] == (byte)'\\')
            {
                at++;
            }
            else if (json[at] == (byte)'"')
            {
                return at + 1;
            }
        }

        return json.Length;
    }

    /// <summary>An open object at one of its members, or an open array at one of its elements.</summary>
    private readonly record struct Level(Range Key, int Index);
}
