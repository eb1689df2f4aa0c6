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
}
