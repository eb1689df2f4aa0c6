using System.Buffers.Text;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Ids;

/// <summary>
/// The change vector clients see: <c>A:&lt;etag&gt;-&lt;history id&gt;</c>. One linear history needs one entry.
/// </summary>
public static class ChangeVector
{
    /// <summary>Bytes a change vector can take.</summary>
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
