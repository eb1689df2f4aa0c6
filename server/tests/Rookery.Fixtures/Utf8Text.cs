using System.Text;

namespace Rookery.Fixtures;

/// <summary>Texts as the bytes that the product reads and writes.</summary>
public static class Utf8Text
{
    public static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    public static string Text(ReadOnlySpan<byte> bytes) => Encoding.UTF8.GetString(bytes);
}
