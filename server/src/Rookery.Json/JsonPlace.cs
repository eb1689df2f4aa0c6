using System.Globalization;
using System.Text;

namespace Rookery.Json;

/// <summary>
/// Describes positions in JSON for error messages. Parsers do not track the path; after an error, the text is scanned
/// again.
/// </summary>
public static class JsonPlace
{
    /// <summary>Maximum characters of a path in an error message.</summary>
    private const int MaxPathCharacters = 256;

    /// <summary>
    /// Maximum levels of the path, because rejected text may open millions of brackets. The deepest document in a
    /// request fits.
    /// </summary>
    private const int MaxLevels = JsonLimits.MaxDepth + 8;

    /// <summary>Returns the line and path of a position.</summary>
    /// <param name="json">The text, valid up to the position.</param>
    /// <param name="offset">The offset of the position.</param>
    public static InputPlace Locate(ReadOnlySpan<byte> json, int offset)
    {
        ReadOnlySpan<byte> before = json[..Math.Min(offset, json.Length)];
        return new InputPlace(offset, before.Count((byte)'\n') + 1, PathAt(before));
    }

    /// <summary>Returns the path of the member or element that is open at the end of <paramref name="json"/>.</summary>
    private static string PathAt(ReadOnlySpan<byte> json)
    {
        var open = new Stack<Level>();
        Range lastString = default;
        int at = 0;
        while (at < json.Length && open.Count <= MaxLevels)
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
                    open.Push(new Level(lastString, Index: -1));
                    break;
                case (byte)'{':
                    open.Push(new Level(Key: default, Index: -1));
                    break;
                case (byte)'[':
                    open.Push(new Level(Key: default, Index: 0));
                    break;
                case (byte)',' when open.Count > 0:
                    int index = open.Pop().Index;
                    open.Push(new Level(Key: default, index < 0 ? -1 : index + 1));
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
                return ShortText.Of(path.ToString(), MaxPathCharacters);
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

    /// <summary>
    /// An open object at one of its members (index -1; the key is empty before its colon), or an open array at one of
    /// its elements.
    /// </summary>
    private readonly record struct Level(Range Key, int Index);
}
