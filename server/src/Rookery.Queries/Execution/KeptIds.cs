using Rookery.Queries.Conditions;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// Ids of entries that were found, as far as they are few: they were read with the etag, and to read one again takes as
/// long. For one thread.
/// </summary>
/// <param name="memory">What they take is drawn from here.</param>
internal sealed class KeptIds(ScanMemory memory)
{
    private const int FirstBytes = 512;

    // Of a long answer, the first: more would be held twice while it is written.
    private const int MostBytes = 64 << 10;

    private byte[] _bytes = [];
    private int _length;

    /// <summary>Keeps an id.</summary>
    /// <returns>Where it stands; <see cref="FoundEntry.Nowhere"/> where there is no more room.</returns>
    public int Keep(ReadOnlySpan<byte> id)
    {
        int needed = _length + sizeof(ushort) + id.Length;
        if (needed > MostBytes)
        {
            return FoundEntry.Nowhere;
        }

        if (needed > _bytes.Length)
        {
            int longer = Math.Max(needed, Math.Max(FirstBytes, 2 * _bytes.Length));
            memory.Take(longer - _bytes.Length);
            Array.Resize(ref _bytes, longer);
        }

        int at = _length;
        BitConverter.TryWriteBytes(_bytes.AsSpan(at), (ushort)id.Length);
        id.CopyTo(_bytes.AsSpan(at + sizeof(ushort)));
        _length = needed;
        return at;
    }

    /// <summary>The id that stands somewhere.</summary>
    public ReadOnlyMemory<byte> At(int place) =>
        _bytes.AsMemory(place + sizeof(ushort), BitConverter.ToUInt16(_bytes, place));
}
