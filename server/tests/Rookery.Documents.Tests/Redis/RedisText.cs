using System.Globalization;
using System.Text;

namespace Rookery.Documents.Tests.Redis;

/// <summary>
/// Shows replies in RESP3 as short texts: <c>OK</c>, <c>"value"</c>, <c>5</c>, <c>null</c>, <c>[…]</c>.
/// </summary>
internal static class RedisText
{
    public static string Of(ReadOnlySpan<byte> reply)
    {
        string text = Encoding.Latin1.GetString(reply);
        int at = 0;
        string value = Read(text, ref at);
        Assert.Equal(text.Length, at);
        return value;
    }

    private static string Read(string text, ref int at)
    {
        int end = text.IndexOf("\r\n", at, StringComparison.Ordinal);
        char kind = text[at];
        string line = text[(at + 1)..end];
        at = end + 2;
        switch (kind)
        {
            case '+' or '-' or ':':
                return line;
            case '_':
                return "null";
            case '$':
                int length = int.Parse(line, CultureInfo.InvariantCulture);
                string value = text.Substring(at, length);
                Assert.Equal("\r\n", text.Substring(at + length, 2));
                at += length + 2;
                return $"\"{value}\"";
            default:
                int count = int.Parse(line, CultureInfo.InvariantCulture) * (kind == '%' ? 2 : 1);
                var items = new List<string>();
                for (int i = 0; i < count; i++)
                {
                    items.Add(Read(text, ref at));
                }

                string shown = string.Join(' ', items);
                return kind switch
                {
                    '*' => $"[{shown}]",
                    '~' => $"<{shown}>",
                    '%' => $"{{{shown}}}",
                    _ => throw new InvalidOperationException($"kind {kind}"),
                };
        }
    }
}
