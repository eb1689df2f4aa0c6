using System.Buffers;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>
/// Passes on the selected members of one result. Refuses a result that is much larger than what it is read from: a
/// selection can name a large field or a large parameter up to 256 times, and memory is reserved for much less. Not
/// thread-safe.
/// </summary>
internal sealed class BoundedMembers : IBufferWriter<byte>
{
    // A result may have twice the bytes of its source and this many more.
    private const int SpareBytes = 64 << 10;

    private readonly IBufferWriter<byte> _output;
    private long _bytesLeft;

    /// <summary>Begins a result.</summary>
    /// <param name="output">Receives the bytes.</param>
    /// <param name="source">The document, with its row if it has one; or a reduced row, or the row of a group.</param>
    public BoundedMembers(IBufferWriter<byte> output, in QueriedDocument source)
    {
        _output = output;
        bool isRow = source.Members != source.View.Body;
        long sourceBytes =
            (long)source.View.Body.Length + source.View.Metadata.Length + (isRow ? source.Members.Length : 0);
        _bytesLeft = SpareBytes + (2 * sourceBytes);
    }

    /// <inheritdoc/>
    public void Advance(int count)
    {
        _bytesLeft -= count;
        _output.Advance(count);
    }

    /// <inheritdoc/>
    /// <exception cref="QueryException">The members are too large.</exception>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Require(sizeHint);
        return _output.GetMemory(sizeHint);
    }

    /// <inheritdoc/>
    /// <exception cref="QueryException">The members are too large.</exception>
    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Require(sizeHint);
        return _output.GetSpan(sizeHint);
    }

    private void Require(int bytes)
    {
        if (bytes > _bytesLeft)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                "The selected members of a result together are more than twice as large as its document, row or "
                    + "group: select each large field once."
            );
        }
    }
}
