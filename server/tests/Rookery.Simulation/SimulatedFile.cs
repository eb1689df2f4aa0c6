namespace Rookery.Simulation;

/// <summary>A version of a sector: its content after one operation.</summary>
/// <param name="Operation">The operation that gave it this content.</param>
/// <param name="Bytes">The array that contains it, shared with other sectors of the same write; null for zeros.</param>
/// <param name="Start">Its offset in the array.</param>
/// <param name="PartOfWrite">The position of the sector in its write, from 0 to 1. A torn write keeps the sectors
/// before some position.</param>
/// <param name="IsTruncation">Whether a truncation made this version. It then survives exactly if the file's new length
/// survives.</param>
/// <param name="IsRot">Whether it is damage of the medium, which is durable at once.</param>
internal readonly record struct SectorVersion(
    int Operation,
    byte[]? Bytes,
    int Start,
    float PartOfWrite,
    bool IsTruncation = false,
    bool IsRot = false
)
{
    internal ReadOnlySpan<byte> Content =>
        Bytes is null ? SimulatedFile.Zeros : Bytes.AsSpan(Start, SimulatedFile.SectorBytes);
}

/// <summary>
/// The content of a simulated file (an inode): every version of each sector, so that the content after a power cut at
/// any past operation can be chosen from them. A file of a crash image chooses only the sectors that are read, which
/// keeps images cheap.
/// </summary>
internal sealed class SimulatedFile(int id) : SimulatedNode(id)
{
    internal const int SectorBytes = 512;

    internal const int PageBytes = 4096;

    private readonly List<(int Operation, long Length)> _lengths = [];
    private readonly List<(int Operation, bool Succeeded)> _syncs = [];
    private readonly SimulatedFile? _original;
    private readonly PowerLoss? _loss;
    private readonly long _originalLength;
    private readonly int _originalLengthOperation;
    private SectorHistory?[] _sectors = [];

    private SimulatedFile(int id, SimulatedFile original, PowerLoss loss)
        : this(id)
    {
        _original = original;
        _loss = loss;
        (_originalLength, _originalLengthOperation) = original.LengthAfter(loss);
        Length = _originalLength;
        AllocatedBytes = RoundUp(Length);
    }

    internal static ReadOnlySpan<byte> Zeros => ZeroSector;

    internal long Length { get; private set; }

    /// <summary>
    /// Bytes that the file uses on the disk: whole pages through its highest written or reserved byte. A hole counts as
    /// if it were written.
    /// </summary>
    internal long AllocatedBytes { get; private set; }

    /// <summary>The number of the file's names now.</summary>
    internal int Links { get; set; }

    /// <summary>The number of open handles of the file now.</summary>
    internal int Handles { get; set; }

    private static byte[] ZeroSector { get; } = new byte[SectorBytes];

    internal static long RoundUp(long bytes) => (bytes + PageBytes - 1) / PageBytes * PageBytes;

    /// <summary>Returns the file as a power cut leaves it.</summary>
    internal SimulatedFile After(PowerLoss powerLoss, int newId) => new(newId, this, powerLoss);

    internal int Read(Span<byte> buffer, long offset)
    {
        int count = (int)Math.Clamp(Length - offset, 0, buffer.Length);
        for (int done = 0; done < count; )
        {
            var (sector, within) = Math.DivRem(offset + done, SectorBytes);
            int part = Math.Min(count - done, SectorBytes - (int)within);
            Current((int)sector).Content.Slice((int)within, part).CopyTo(buffer[done..]);
            done += part;
        }

        return count;
    }

    internal void Write(int operation, ReadOnlySpan<byte> data, long offset)
    {
        byte[] copy = data.ToArray();
        for (int done = 0; done < copy.Length; )
        {
            var (sector, within) = Math.DivRem(offset + done, SectorBytes);
            int part = Math.Min(copy.Length - done, SectorBytes - (int)within);
            float partOfWrite = (float)done / copy.Length;
            Add(
                (int)sector,
                part == SectorBytes
                    ? Version(operation, copy, done, partOfWrite)
                    : Merge(operation, Current((int)sector).Content, copy.AsSpan(done, part), (int)within, partOfWrite)
            );
            done += part;
        }

        AllocatedBytes = Math.Max(AllocatedBytes, RoundUp(offset + copy.Length));
        SetLengthTo(operation, Math.Max(Length, offset + copy.Length));
    }

    internal void Allocate(int operation, long length)
    {
        AllocatedBytes = Math.Max(AllocatedBytes, RoundUp(length));
        SetLengthTo(operation, Math.Max(Length, length));
    }

    internal void SetLength(int operation, long length)
    {
        if (length < Length)
        {
            TruncateSectors(operation, length);
            AllocatedBytes = Math.Min(AllocatedBytes, RoundUp(length));
        }

        SetLengthTo(operation, length);
    }

    /// <summary>
    /// Records a sync. After a failed one the kernel marks the pages clean, so no later sync makes the bytes written
    /// before it durable; only writing them again does.
    /// </summary>
    internal void Sync(int operation, bool succeeded) => _syncs.Add((operation, succeeded));

    /// <summary>Flips bits of one stored byte.</summary>
    internal void Rot(int operation, long offset, byte mask)
    {
        var (sector, within) = Math.DivRem(offset, SectorBytes);
        byte[] damaged = Current((int)sector).Content.ToArray();
        damaged[within] ^= mask;
        Add((int)sector, new SectorVersion(operation, damaged, 0, 0, IsRot: true));
    }

    private static SectorVersion Version(int operation, byte[] bytes, int start, float partOfWrite)
    {
        bool isZero = bytes.AsSpan(start, SectorBytes).IndexOfAnyExcept((byte)0) < 0;
        return new SectorVersion(operation, isZero ? null : bytes, start, partOfWrite);
    }

    private static SectorVersion Merge(
        int operation,
        ReadOnlySpan<byte> old,
        ReadOnlySpan<byte> data,
        int within,
        float partOfWrite
    )
    {
        byte[] merged = old.ToArray();
        data.CopyTo(merged.AsSpan(within));
        return Version(operation, merged, start: 0, partOfWrite);
    }

    private void SetLengthTo(int operation, long length)
    {
        if (length != Length)
        {
            Length = length;
            _lengths.Add((operation, length));
        }
    }

    private void TruncateSectors(int operation, long length)
    {
        var (first, within) = Math.DivRem(length, SectorBytes);
        long end = (Length + SectorBytes - 1) / SectorBytes;
        for (int sector = (int)first; sector < end; sector++)
        {
            int kept = sector == first ? (int)within : 0;
            var version =
                kept == 0
                    ? new SectorVersion(operation, null, 0, 0)
                    : Merge(operation, Current(sector).Content, Zeros[kept..], kept, partOfWrite: 0);
            Add(sector, version with { IsTruncation = true });
        }
    }

    private SectorVersion Current(int sector) =>
        sector < _sectors.Length && _sectors[sector] is { } history ? history.Versions[^1] : Original(sector);

    private void Add(int sector, SectorVersion version)
    {
        if (sector >= _sectors.Length)
        {
            Array.Resize(ref _sectors, Math.Max(sector + 1, _sectors.Length * 2));
        }

        if (_sectors[sector] is { } history)
        {
            history.Add(version);
        }
        else if (version.Bytes is not null || Original(sector).Bytes is not null)
        {
            // Zeros over a sector that was never written add no version, so zeroed segments use no memory.
            _sectors[sector] = new SectorHistory(version);
        }
    }

    /// <summary>Returns the content of a sector before this disk's first operation.</summary>
    private SectorVersion Original(int sector)
    {
        long room = _originalLength - ((long)sector * SectorBytes);
        if (_original is null || room <= 0)
        {
            return default;
        }

        var version = _original.SectorAfter(_loss!, sector, _originalLengthOperation);
        if (room < SectorBytes && version.Bytes is not null)
        {
            // Bytes beyond the surviving length are gone: they must not come back when the file grows again.
            byte[] masked = version.Content.ToArray();
            masked.AsSpan((int)room).Clear();
            return version with { Bytes = masked, Start = 0 };
        }

        return version;
    }

    private SectorVersion SectorAfter(PowerLoss powerLoss, int sector, int lengthOperation)
    {
        if (sector >= _sectors.Length || _sectors[sector] is not { } history)
        {
            return Original(sector);
        }

        var versions = history.Until(powerLoss.Operation);
        int oldest = versions.Length - 1;
        while (oldest >= 0 && !versions[oldest].IsRot && !IsDurable(versions[oldest].Operation, powerLoss.Operation))
        {
            oldest--;
        }

        for (int i = oldest + 1; i < versions.Length; i++)
        {
            if (!versions[i].IsTruncation)
            {
                continue;
            }

            // A truncation and its length are one change. If the length survives, no older content does; if not, no
            // newer content does.
            if (versions[i].Operation > lengthOperation)
            {
                versions = versions[..i];
                break;
            }

            oldest = i;
        }

        int pick = versions.Length - 1 == oldest ? oldest : powerLoss.PickVersion(Id, sector, versions, oldest);
        return pick < 0 ? Original(sector) : versions[pick];
    }

    private (long Length, int Operation) LengthAfter(PowerLoss powerLoss)
    {
        int known = 0;
        while (known < _lengths.Count && _lengths[known].Operation <= powerLoss.Operation)
        {
            known++;
        }

        int durable = known;
        while (durable > 0 && !IsDurable(_lengths[durable - 1].Operation, powerLoss.Operation))
        {
            durable--;
        }

        int first = durable;
        int kept =
            first + (known == first ? 0 : powerLoss.PickLength(Id, known - first, i => _lengths[first + i].Operation));
        return kept == 0 ? (_originalLength, 0) : (_lengths[kept - 1].Length, _lengths[kept - 1].Operation);
    }

    /// <summary>Whether the first sync after <paramref name="operation"/> succeeded, before the power cut.</summary>
    private bool IsDurable(int operation, int crashOperation)
    {
        int low = 0;
        int high = _syncs.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            (low, high) = _syncs[middle].Operation > operation ? (low, middle) : (middle + 1, high);
        }

        return low < _syncs.Count && _syncs[low].Succeeded && _syncs[low].Operation <= crashOperation;
    }

    /// <summary>The versions of one sector in the order of their operations.</summary>
    private sealed class SectorHistory(SectorVersion first)
    {
        private SectorVersion[] _versions = [first];
        private int _count = 1;

        internal ReadOnlySpan<SectorVersion> Versions => _versions.AsSpan(0, _count);

        internal void Add(SectorVersion version)
        {
            if (_count == _versions.Length)
            {
                Array.Resize(ref _versions, _count * 2);
            }

            _versions[_count++] = version;
        }

        internal ReadOnlySpan<SectorVersion> Until(int operation)
        {
            int end = _count;
            while (end > 0 && _versions[end - 1].Operation > operation)
            {
                end--;
            }

            return _versions.AsSpan(0, end);
        }
    }
}
