using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// The checked parts of an open run that stay in memory: footer, index, filter and key range.
/// </summary>
internal sealed unsafe class RunContents : IDisposable
{
    private RunContents(long fileId, in RunFooter footer, RunSummary summary, RunIndex index, NativeRegion memory)
    {
        FileId = fileId;
        Footer = footer;
        Summary = summary;
        Index = index;
        Memory = memory;
    }

    public long FileId { get; }

    public RunFooter Footer { get; }

    public RunSummary Summary { get; }

    public RunIndex Index { get; }

    /// <summary>
    /// The filter, then the index. The filter is first, so that its lines are aligned with the CPU's cache lines.
    /// </summary>
    public NativeRegion Memory { get; }

    public byte* Filter => Memory.Address;

    public void Dispose() => Memory.Dispose();

    /// <summary>Reads everything except the blocks; null if a part is damaged.</summary>
    /// <exception cref="DiskException">The file could not be read.</exception>
    public static RunContents? Load(IDiskFile file, long fileId, out RunDamage? damage)
    {
        long length = file.Length;
        string? problem = ReadEnds(file, fileId, length, out var footer);
        if (problem is not null)
        {
            damage = new RunDamage(file.Path, Offset: 0, length, problem);
            return null;
        }

        NativeRegion? memory = new(footer.FilterBytes + RunIndex.MemoryBytes(footer.IndexBytes, footer.Blocks));
        try
        {
            var contents = LoadParts(file, fileId, footer, memory, out damage);
            if (contents is not null)
            {
                memory = null; // the contents dispose it
            }

            return contents;
        }
        finally
        {
            memory?.Dispose();
        }
    }

    // Reads header and footer. Returns what is wrong with them; null if they are valid.
    private static string? ReadEnds(IDiskFile file, long fileId, long length, out RunFooter footer)
    {
        footer = default;
        Span<byte> header = stackalloc byte[RunFormat.HeaderBytes];
        Span<byte> end = stackalloc byte[RunFooter.Bytes];
        if (length < header.Length + end.Length)
        {
            return "it is too short to be a run";
        }

        string? problem = RunFormat.CheckHeader(header[..file.Read(header, offset: 0)], fileId);
        if (problem is null)
        {
            int endLength = file.Read(end, length - end.Length);
            _ = RunFooter.TryRead(end[..endLength], fileId, length, out footer, out problem);
        }
        return problem;
    }

    private static RunContents? LoadParts(
        IDiskFile file,
        long fileId,
        in RunFooter footer,
        NativeRegion memory,
        out RunDamage? damage
    )
    {
        using var scratch = new NativeRegion(Math.Max(footer.IndexBytes, footer.PropertiesBytes));
        var index = default(RunIndex);
        damage =
            ReadPart(
                file,
                fileId,
                footer.FilterOffset,
                memory.SpanOf(offset: 0, (int)footer.FilterBytes),
                footer.FilterChecksum,
                "filter"
            )
            ?? ReadPart(
                file,
                fileId,
                footer.IndexOffset,
                scratch.SpanOf(offset: 0, (int)footer.IndexBytes),
                footer.IndexChecksum,
                "index"
            );
        if (
            damage is null
            && !RunIndex.TryLoad(
                scratch.Address,
                footer.IndexBytes,
                footer.Blocks,
                footer.IndexOffset,
                memory.Address + footer.FilterBytes,
                out index
            )
        )
        {
            damage = new RunDamage(file.Path, footer.IndexOffset, footer.IndexBytes, "the index is inconsistent");
        }

        var properties = scratch.SpanOf(offset: 0, (int)footer.PropertiesBytes);
        damage ??= ReadPart(
            file,
            fileId,
            footer.PropertiesOffset,
            properties,
            footer.PropertiesChecksum,
            "list of properties"
        );
        if (damage is not null)
        {
            return null;
        }

        if (!RunProperties.TryDecode(properties, footer.RangeTombstones, out byte[] smallest, out byte[] largest))
        {
            damage = new RunDamage(
                file.Path,
                footer.PropertiesOffset,
                footer.PropertiesBytes,
                "the list of properties is inconsistent"
            );
            return null;
        }

        var summary = new RunSummary(
            fileId,
            footer.FileBytes,
            footer.Rows,
            footer.Tombstones,
            footer.RangeTombstones,
            footer.LogicalBytes,
            footer.SmallestSequence,
            footer.LargestSequence,
            smallest,
            largest
        );
        return new RunContents(fileId, footer, summary, index, memory);
    }

    private static RunDamage? ReadPart(
        IDiskFile file,
        long fileId,
        long offset,
        Span<byte> target,
        uint checksum,
        string name
    )
    {
        string? problem =
            file.Read(target, offset) != target.Length ? $"the file ends within its {name}"
            : RunFormat.ChecksumOf(fileId, offset, target) != checksum ? $"the checksum of the {name} does not match"
            : null;
        return problem is null ? null : new RunDamage(file.Path, offset, target.Length, problem);
    }
}
