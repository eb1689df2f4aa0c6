using Rookery.Platform;

namespace Rookery.Storage.State;

/// <summary>A sorted run: files of one group whose key ranges do not overlap, in key order. Immutable.</summary>
internal sealed class SortedRun
{
    /// <summary>Creates a run of files in key order.</summary>
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

    /// <summary>The files, in key order.</summary>
    public RunEntry[] Files { get; }

    /// <summary>Total length of the files.</summary>
    public long Bytes { get; }

    /// <summary>Number of rows, including tombstones.</summary>
    public long Rows { get; }

    /// <summary>
    /// Returns the number of tombstones in those files whose rows all have at most the given sequence.
    /// </summary>
    public long TombstonesThrough(long sequence)
    {
        long tombstones = 0;
        foreach (RunEntry file in Files)
        {
            tombstones += file.Summary.LargestSequence <= sequence ? file.Summary.Tombstones : 0;
        }

        return tombstones;
    }

    /// <summary>Returns this run with one file replaced.</summary>
    public SortedRun Replace(RunEntry file, params ReadOnlySpan<RunEntry> by)
    {
        int place = Array.IndexOf(Files, file);
        Invariant.Holds(place >= 0, "a replaced file is part of its run");
        return new SortedRun([.. Files.AsSpan(0, place), .. by, .. Files.AsSpan(place + 1)]);
    }

    /// <summary>Returns the file that may contain a key; null if there is none.</summary>
    public RunEntry? FileOf(ReadOnlySpan<byte> key)
    {
        int low = 0;
        int high = Files.Length - 1;
        while (low <= high)
        {
            int middle = (low + high) / 2;
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
