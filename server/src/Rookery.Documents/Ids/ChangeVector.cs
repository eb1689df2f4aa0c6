using System.Buffers.Text;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Ids;

/// <summary>The change vector clients see: <c>A:&lt;etag&gt;-&lt;history id&gt;</c>. One linear history needs one entry.</summary>
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

    /// <summary>Whether a change may go on.</summary>
    /// <param name="expected">What it expects.</param>
    /// <param name="etag">The document's etag; 0 when there is none.</param>
    /// <param name="historyId">The database's history id.</param>
    public static bool IsMet(ExpectedChangeVector expected, long etag, ReadOnlySpan<byte> historyId)
    {
        switch (expected.Expectation)
        {
            case Expectation.Anything:
                return true;
            case Expectation.MustNotExist:
                return etag == 0;
            default:
                Span<byte> actual = stackalloc byte[MaxBytes];
                return etag != 0 && expected.Text.SequenceEqual(actual[..Write(actual, etag, historyId)]);
        }
    }
}
