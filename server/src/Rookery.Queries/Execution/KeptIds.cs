using Rookery.Queries.Conditions;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// Keeps the ids of found entries, up to 64 KiB. The search reads them together with the etags, so this saves a second
/// read. Not thread-safe.
/// </summary>
/// <param name="memory">Reserves the memory.</param>
internal sealed class KeptIds(ScanMemory memory)
{
    private const int FirstBytes = 512;

    // Ids beyond this limit are read again when their results are written.
    private const int MaxBytes = 64 << 10;

    private byte[] _bytes = [];
    private int _length;

    /// <summary>Keeps an id.</summary>
    /// <returns>The position of the id; <see cref="FoundEntry.NoId"/> if the limit is reached.</returns>
    public int Keep(ReadOnlySpan<byte> id)
    {
        int needed = _length + sizeof(ushort) + id.Length;
        if (needed > MaxBytes)
        {
            return FoundEntry.NoId;
        }

        if (needed > _bytes.Length)
        {
            int capacity = Math.Max(needed, Math.Max(FirstBytes, 2 * _bytes.Length));
            memory.Reserve(capacity - _bytes.Length);
            Array.Resize(ref _bytes, capacity);
        }

        int position = _length;
        BitConverter.TryWriteBytes(_bytes.AsSpan(position), (ushort)id.Length);
        id.CopyTo(_bytes.AsSpan(position + sizeof(ushort)));
        _length = needed;
        return position;
    }

    /// <summary>Returns the id at a position.</summary>
    public ReadOnlyMemory<byte> IdAt(int position) =>
        _bytes.AsMemory(position + sizeof(ushort), BitConverter.ToUInt16(_bytes, position));
}
