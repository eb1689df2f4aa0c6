using Rookery.Platform;

namespace Rookery.Storage.State;

/// <summary>Files of one group that do not overlap, in key order: to a reader one run. Immutable.</summary>
internal sealed class SortedRun
{
    /// <summary>Makes a run of files that are in order.</summary>
    public SortedRun(IReadOnlyList<RunEntry> files)
    {
        Files = [.. files];
        for (int i = 1; i < Files.Length; i++)
        {
            Invariant.Holds(
                Files[i - 1].LastKey.SequenceCompareTo(Files[i].FirstKey) < 0,
                "files of a sorted run are in key order and do not overlap"
            );
        }

        foreach (RunEntry file in Files)
        {
            Bytes += file.Summary.FileBytes;
            Rows += file.Summary.Rows;
        }
    }

    /// <summary>The files.</summary>
    public RunEntry[] Files { get; }

    /// <summary>Their bytes on disk.</summary>
    public long Bytes { get; }

    /// <summary>Their rows, tombstones included.</summary>
    public long Rows { get; }

    /// <summary>The tombstones of the files that hold nothing above a sequence.</summary>
    public long TombstonesThrough(long sequence)
    {
        long tombstones = 0;
        foreach (RunEntry file in Files)
        {
            tombstones += file.Summary.LargestSequence <= sequence ? file.Summary.Tombstones : 0;
        }

        return tombstones;
    }

    /// <summary>The same with another record of one file.</summary>
    public SortedRun Replace(RunEntry file, params ReadOnlySpan<RunEntry> by)
    {
        int place = Array.IndexOf(Files, file);
        Invariant.Holds(place >= 0, "a file that is replaced is there");
        return new SortedRun([.. Files.AsSpan(0, place), .. by, .. Files.AsSpan(place + 1)]);
    }

    /// <summary>The file that may hold a key; null when none does.</summary>
    public RunEntry? FileOf(ReadOnlySpan<byte> key)
    {
        int low = 0;
        int high = Files.Length - 1;
        while (low <= high)
        {
            int middle = (low + high) >>> 1;
            RunEntry file = Files[middle];
            if (key.SequenceCompareTo(file.LastKey) > 0)
            {
                low = middle + 1;
            }
            else if (key.SequenceCompareTo(file.FirstKey) < 0)
            {
                high = middle - 1;
            }
            else
            {
                return file;
            }
        }

        return null;
    }
}
