using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Files that a person, a repair of the file system or a card takes away: what is left says that a node ran here, or
/// holds everything.
/// </summary>
public sealed class MissingFilesTests
{
    private const int Seed = 3;

    /// <summary>A young node never wrote a table; an old one has flushed, merged and started again.</summary>
    [Theory]
    [InlineData(2, true)]
    [InlineData(2, false)]
    [InlineData(25, true)]
    [InlineData(25, false)]
    public void Whichever_files_are_gone_no_node_starts_with_less_than_it_held(int rounds, bool stopsCleanly)
    {
        var (disk, run) = NodeWorkload.RunWithFault(Seed, rounds, fault: null);
        Stop(disk, run, stopsCleanly);
        string[][] parts = PartsOf(disk);
        int refused = 0;
        for (int gone = 1; gone < (1 << parts.Length) - 1; gone++)
        {
            var image = disk.AfterPowerLoss(gone);
            string[] missing =
            [
                .. parts.Where((_, part) => (gone & (1 << part)) != 0).SelectMany(static files => files),
            ];
            byte[][] bytes = Array.ConvertAll(missing, image.ReadAll);
            Array.ForEach(missing, image.Delete);
            string story = $"without {string.Join(", ", missing)}";
            if (WhyNotOpened(image) is { } why)
            {
                refused++;
                Assert.True(why.Contains("/data/node", StringComparison.Ordinal), $"{story}: {why}");
                PutBack(image, missing, bytes);
                if (IsKnownPair(missing))
                {
                    CheckOrRefused(run, image, $"{story}, which were put back");
                }
                else
                {
                    run.CheckAll(image, $"{story}, which were put back");
                }
            }
            else
            {
                CheckOrRefused(run, image, story);
            }
        }

        Assert.True(refused > (1 << parts.Length) / 2, $"{refused} of {1 << parts.Length} refused");
    }

    [Theory]
    [InlineData(2, false, true)]
    [InlineData(2, false, false)]
    [InlineData(2, true, true)]
    [InlineData(2, true, false)]
    [InlineData(25, false, true)]
    [InlineData(25, false, false)]
    [InlineData(25, true, true)]
    [InlineData(25, true, false)]
    public void Whichever_two_files_are_empty_or_garbage_no_node_starts_with_less_than_it_held(
        int rounds,
        bool empty,
        bool stopsCleanly
    )
    {
        var (disk, run) = NodeWorkload.RunWithFault(Seed, rounds, fault: null);
        Stop(disk, run, stopsCleanly);
        string[][] parts = PartsOf(disk);
        for (int first = 0; first < parts.Length; first++)
        {
            for (int second = first; second < parts.Length; second++)
            {
                var image = disk.AfterPowerLoss(first);
                string[] spoilt = [.. parts[first], .. second == first ? [] : parts[second]];
                Array.ForEach(spoilt, path => Spoil(image, path, empty));
                CheckOrRefused(run, image, $"{(empty ? "empty" : "garbage")}: {string.Join(", ", spoilt)}");
            }
        }
    }

    /// <summary>In order, or by a kill after which nothing says that the last write was whole.</summary>
    private static void Stop(SimulatedDisk disk, NodeWorkload run, bool cleanly)
    {
        if (cleanly)
        {
            run.StopCleanly();
        }
        else
        {
            disk.KillProcess();
        }
    }

    /// <summary>Each file but locks, and all runs together.</summary>
    private static string[][] PartsOf(SimulatedDisk disk)
    {
        var files = disk
            .Files.Where(static path => !path.EndsWith("/lock", StringComparison.Ordinal))
            .ToLookup(static path => path.EndsWith(".run", StringComparison.Ordinal));
        string[][] runs = files[true].Any()
            ?
            [
                [.. files[true]],
            ]
            : [];
        return [.. files[false].Select(static path => new[] { path }), .. runs];
    }

    /// <summary>
    /// Whether the newest segment and the note of it may both be missing, which no start can detect. A start that is
    /// refused for another file has begun a segment then, after which the restored one no longer counts.
    /// </summary>
    private static bool IsKnownPair(string[] missing) =>
        Array.Exists(missing, static path => path.EndsWith("/newest", StringComparison.Ordinal))
        && Array.Exists(missing, static path => path.EndsWith(".segment", StringComparison.Ordinal));

    private static void Spoil(SimulatedDisk image, string path, bool empty)
    {
        int length = image.ReadAll(path).Length;
        image.Delete(path);
        using var file = image.Open(path, DiskOpen.CreateNew);
        if (!empty)
        {
            byte[] garbage = new byte[length];
            new Random(length).NextBytes(garbage);
            file.Write(garbage, 0);
        }

        file.Sync();
    }

    private static void PutBack(SimulatedDisk image, string[] paths, byte[][] bytes)
    {
        foreach (var (path, held) in paths.Zip(bytes))
        {
            if (image.Exists(path))
            {
                image.Delete(path);
            }

            using var file = image.Open(path, DiskOpen.CreateNew);
            file.Write(held, 0);
            file.Sync();
        }
    }

    private static string? WhyNotOpened(SimulatedDisk image)
    {
        try
        {
            SteppedNode.Open(image, new SimulatedTimeProvider()).Dispose();
            return null;
        }
        catch (IOException refusal)
        {
            return refusal.Message;
        }
    }

    /// <summary>What cannot be read may also be found later than at the start.</summary>
    private static void CheckOrRefused(NodeWorkload run, SimulatedDisk image, string story)
    {
        try
        {
            run.CheckAll(image, story);
        }
        catch (IOException refusal)
        {
            Assert.True(
                refusal.Message.Contains("/data/node", StringComparison.Ordinal),
                $"{story}: {refusal.Message}"
            );
        }
        catch (Exception broken)
        {
            Assert.Fail($"{story}: {broken.Message}");
        }
    }
}
