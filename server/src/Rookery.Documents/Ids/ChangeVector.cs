using System.Buffers.Text;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Ids;

/// <summary>
/// Writes change vectors in their form for clients: <c>A:&lt;etag&gt;-&lt;history id&gt;</c>. A cluster has one log, so
/// one entry suffices.
/// </summary>
public static class ChangeVector
{
    /// <summary>Maximum length of a change vector.</summary>
    public const int MaxBytes = 2 + 19 + 1 + HistoryId.Length;

    /// <summary>Writes a change vector.</summary>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <param name="etag">The version's etag.</param>
    /// <param name="historyId">The database's history id.</param>
    /// <returns>Bytes written.</returns>
    public static int Write(Span<byte> destination, long etag, ReadOnlySpan<byte> historyId)
    {
        "A:"u8.CopyTo(destination);
        Utf8Formatter.TryFormat(etag, destination[2..], out int digits);
        destination[2 + digits] = (byte)'-';
        historyId.CopyTo(destination[(3 + digits)..]);
        return 3 + digits + historyId.Length;
    }

    /// <summary>Returns the etag in a change vector of any history; -1 if the text is not a change vector.</summary>
    internal static long EtagOf(ReadOnlySpan<byte> text) =>
        text.StartsWith("A:"u8)
        && Utf8Parser.TryParse(text[2..], out long etag, out int digits)
        && etag > 0
        && text[(2 + digits)..].StartsWith("-"u8)
            ? etag
            : -1;
}
