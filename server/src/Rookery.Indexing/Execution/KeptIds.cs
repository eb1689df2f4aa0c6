using Rookery.Indexing.Scanning;

namespace Rookery.Indexing.Execution;

/// <summary>Ids of entries that were found, as far as they are few: they were read with the etag, and to read one again takes as long. For one thread.</summary>
/// <param name="memory">What they take is drawn from here.</param>
internal sealed class KeptIds(ScanMemory memory)
{
    /// <summary>Where an id stands that was not kept.</summary>
    public const int Nowhere = -1;

    private const int FirstBytes = 512;

    // Of a long answer, the first: more would be held twice while it is written.
    private const int MostBytes = 64 << 10;

    private byte[] bytes = [];
    private int length;

    /// <summary>Keeps an id.</summary>
    /// <returns>Where it stands; <see cref="Nowhere"/> where there is no more room.</returns>
    public int Keep(ReadOnlySpan<byte> id)
    {
        int needed = length + sizeof(ushort) + id.Length;
        if (needed > MostBytes)
        {
            return Nowhere;
        }

        if (needed > bytes.Length)
        {
            int longer = Math.Max(needed, Math.Max(FirstBytes, 2 * bytes.Length));
            memory.Take(longer - bytes.Length);
            Array.Resize(ref bytes, longer);
        }

        int at = length;
        BitConverter.TryWriteBytes(bytes.AsSpan(at), (ushort)id.Length);
        id.CopyTo(bytes.AsSpan(at + sizeof(ushort)));
        length = needed;
        return at;
    }

    /// <summary>The id that stands somewhere.</summary>
    public ReadOnlyMemory<byte> At(int place) => bytes.AsMemory(place + sizeof(ushort), BitConverter.ToUInt16(bytes, place));
}
