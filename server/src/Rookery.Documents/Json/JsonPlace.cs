using System.Globalization;
using System.Text;

namespace Rookery.Documents.Json;

/// <summary>Finds the words for a place in JSON text. Only errors need them, so the text is walked again instead of keeping them while parsing.</summary>
internal static class JsonPlace
{
    /// <summary>Longest path put into an answer.</summary>
    private const int MaxPathCharacters = 256;

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
        var open = new Stack<(string? Key, int Index)>();
        string? lastString = null;
        for (int at = 0; at < json.Length;)
        {
            switch (json[at])
            {
                case (byte)'"':
                    int end = EndOfString(json, at);
                    lastString = Encoding.UTF8.GetString(json[(at + 1)..Math.Max(at + 1, end - 1)]);
                    at = end;
                    continue;
                case (byte)':' when open.Count > 0:
                    open.Pop();
                    open.Push((lastString ?? "", -1));
                    break;
                case (byte)'{':
                    open.Push((null, -1));
                    break;
                case (byte)'[':
                    open.Push((null, 0));
                    break;
                case (byte)',' when open.Count > 0:
                    (_, int index) = open.Pop();
                    open.Push((null, index < 0 ? -1 : index + 1));
                    break;
                case (byte)'}' or (byte)']' when open.Count > 0:
                    open.Pop();
                    break;
                default:
                    break;
            }

            at++;
        }

        return Join(open);
    }

    private static string Join(Stack<(string? Key, int Index)> open)
    {
        var path = new StringBuilder("$");
        foreach ((string? key, int index) in open.Reverse())
        {
            if (path.Length > MaxPathCharacters)
            {
                return path.ToString(0, MaxPathCharacters) + "…";
            }

            if (index >= 0)
            {
                path.Append(CultureInfo.InvariantCulture, $"[{index}]");
            }
            else if (key is not null)
            {
                path.Append('.').Append(key);
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
}
