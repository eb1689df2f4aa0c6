using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>An open segment file. Its header is null while it is a spare.</summary>
internal sealed class Segment(IDiskFile file, string name, int slot) : IDisposable
{
    public IDiskFile File { get; } = file;

    public string Name { get; } = name;

    /// <summary>The number in the file's name.</summary>
    public int Slot { get; } = slot;

    public long Length { get; } = file.Length;

    /// <summary>The segment's header; set when the segment is taken into use.</summary>
    public SegmentHeader? Header { get; set; }

    /// <summary>Offset of the next journal write. Bytes from there on are not part of the log.</summary>
    public long End { get; set; } = FrameLayout.FirstFrameOffset;

    /// <summary>Number of votes, configurations and truncations before <see cref="End"/>.</summary>
    public int Landmarks { get; set; }

    /// <summary>Number of readers that have not read the segment completely.</summary>
    public int Pins { get; set; }

    /// <summary>
    /// Whether a second hard link to the file is kept for the operator. The file's bytes must then never be reused.
    /// </summary>
    public bool IsKeptAside { get; set; }

    public long Generation => Header?.Generation ?? 0;

    public bool HasFrames => End > FrameLayout.FirstFrameOffset;

    public void Dispose() => File.Dispose();
}
