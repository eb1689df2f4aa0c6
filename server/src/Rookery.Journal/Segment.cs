using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>A segment file that is open. Its header is null while it is a spare.</summary>
internal sealed class Segment(IDiskFile file, string name, int slot) : IDisposable
{
    public IDiskFile File { get; } = file;

    public string Name { get; } = name;

    public int Slot { get; } = slot;

    public long Length { get; } = file.Length;

    /// <summary>What it says of itself; set when it is taken into use.</summary>
    public SegmentHeader? Header { get; set; }

    /// <summary>Where the next journal write begins; bytes from there on mean nothing.</summary>
    public long End { get; set; } = FrameLayout.FirstFrameOffset;

    /// <summary>Votes, configurations and truncations before <see cref="End"/>.</summary>
    public int Landmarks { get; set; }

    /// <summary>Readers that have still to read it.</summary>
    public int Pins { get; set; }

    /// <summary>It has a second name that its owner shall find unchanged, so its bytes are never used again.</summary>
    public bool KeptAside { get; set; }

    public long Incarnation => Header?.Incarnation ?? 0;

    public bool HasFrames => End > FrameLayout.FirstFrameOffset;

    public void Dispose() => File.Dispose();
}
