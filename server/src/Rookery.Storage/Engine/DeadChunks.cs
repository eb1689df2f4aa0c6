using System.Buffers.Binary;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Counts the dead bytes of each chunk file: chunks of large values that were released. Used by a flush that makes
/// releases durable. A chunk file is rewritten once more than half of it is dead.
/// </summary>
/// <param name="chunkBytes">Length of a chunk.</param>
/// <param name="chunkRuns">The runs of chunks; <see cref="AddToRuns"/> changes them.</param>
internal sealed class DeadChunks(int chunkBytes, SortedRun[] chunkRuns)
{
    private readonly Dictionary<RunEntry, long> _dead = new(ReferenceEqualityComparer.Instance);

    /// <summary>
    /// Counts a released value, by the row that records its release. Its chunks may be in several files.
    /// </summary>
    public void Add(ReadOnlySpan<byte> releasedKey, ReadOnlySpan<byte> releasedValue)
    {
        long valueBytes = BinaryPrimitives.ReadInt64LittleEndian(releasedValue);
        Span<byte> chunk = stackalloc byte[LargeValue.ChunkKeyBytes];
        releasedKey.CopyTo(chunk);
        chunk[sizeof(uint)] = TableMap.Chunks;
        for (uint number = 0; valueBytes > 0; number++)
        {
            BinaryPrimitives.WriteUInt32BigEndian(chunk[LargeValue.StemBytes..], number);
            ulong hash = KeyHash.Of(chunk);
            foreach (SortedRun run in chunkRuns)
            {
                if (run.FileOf(chunk) is { IsReadable: true } file && file.Reader.MayContain(hash))
                {
                    _dead[file] = _dead.GetValueOrDefault(file) + Math.Min(chunkBytes, valueBytes);
                }
            }

            valueBytes -= chunkBytes;
        }
    }

    /// <summary>Adds the counts to the runs.</summary>
    public void AddToRuns()
    {
        for (int i = 0; i < chunkRuns.Length; i++)
        {
            foreach (RunEntry file in chunkRuns[i].Files.Where(_dead.ContainsKey).ToArray())
            {
                chunkRuns[i] = chunkRuns[i].Replace(file, file with { DeadBytes = file.DeadBytes + _dead[file] });
            }
        }
    }
}
