using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Files are missing or damaged, by an operator, a repair of the file system or a failing card. The node must refuse to
/// start, unless the other files contain everything.
/// </summary>
public sealed class MissingFilesTests
{
    private const int Seed = 3;

    /// <summary>After 2 rounds a node has written no run; after 25 it has flushed, merged and restarted.</summary>
    [Theory]
    [InlineData(2, true)]
    [InlineData(2, false)]
    [InlineData(25, true)]
    [InlineData(25, false)]
    public void With_any_files_missing_a_node_has_all_data_or_refuses_to_start(int rounds, bool stopsCleanly)
    {
        var (disk, run) = NodeWorkload.RunWithFault(Seed, rounds, fault: null);
        Stop(disk, run, stopsCleanly);
        string[][] parts = PartsOf(disk);
        int refused = 0;
        // Each bit of the number is a part. Without any part the directory would be new, so one always remains.
        for (int missingParts = 1; missingParts < (1 << parts.Length) - 1; missingParts++)
        {
            var image = disk.AfterPowerLoss(missingParts);
            string[] missing =
            [
                .. parts.Where((_, part) => (missingParts & (1 << part)) != 0).SelectMany(static files => files),
            ];
            byte[][] bytes = Array.ConvertAll(missing, image.ReadAll);
            Array.ForEach(missing, image.Delete);
            string context = $"without {string.Join(", ", missing)}";
            if (FindRefusal(image) is { } refusal)
            {
                refused++;
                Assert.True(refusal.Contains("/data/node", StringComparison.Ordinal), $"{context}: {refusal}");
                PutBack(image, missing, bytes);
                if (CannotBeDetected(missing))
                {
                    AssertCompleteOrRefused(run, image, $"{context}, which were put back");
                }
                else
                {
                    run.CheckAll(image, $"{context}, which were put back");
                }
            }
            else
            {
                AssertCompleteOrRefused(run, image, context);
            }
        }

        Assert.True(
            refused > (1 << parts.Length) / 2,
            $"only {refused} of {1 << parts.Length} sets of missing files were refused"
        );
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
    public void With_any_two_files_empty_or_garbage_a_node_has_all_data_or_refuses_to_start(
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
                string[] damaged = [.. parts[first], .. second == first ? [] : parts[second]];
                Array.ForEach(damaged, path => Damage(image, path, empty));
                AssertCompleteOrRefused(run, image, $"{(empty ? "empty" : "garbage")}: {string.Join(", ", damaged)}");
            }
        }
    }

    /// <summary>Stops cleanly or by a kill. After a kill no file shows that the last write was complete.</summary>
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

    /// <summary>Returns each file, except locks, by itself, and all runs together.</summary>
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
    /// Whether both the newest segment and the file that names it are lost, which no start can detect. If a start is
    /// refused for another file, it has already begun a segment, so the restored one no longer counts.
    /// </summary>
    private static bool CannotBeDetected(string[] missing) =>
        Array.Exists(missing, static path => path.EndsWith("/newest", StringComparison.Ordinal))
        && Array.Exists(missing, static path => path.EndsWith(".segment", StringComparison.Ordinal));

    /// <summary>Replaces a file by an empty one, or by random bytes of the same length.</summary>
    private static void Damage(SimulatedDisk image, string path, bool empty)
    {
        int length = image.ReadAll(path).Length;
        image.Delete(path);
        using var file = image.Open(path, DiskOpen.CreateNew);
        if (!empty)
        {
            byte[] garbage = new byte[length];
            new Random(length).NextBytes(garbage);
            file.Write(garbage, offset: 0);
        }

        file.Sync();
    }

    private static void PutBack(SimulatedDisk image, string[] paths, byte[][] bytes)
    {
        foreach (var (path, content) in paths.Zip(bytes))
        {
            if (image.Exists(path))
            {
                image.Delete(path);
            }

            using var file = image.Open(path, DiskOpen.CreateNew);
            file.Write(content, offset: 0);
            file.Sync();
        }
    }

    /// <summary>Returns why a node refuses to open, or null if it opens.</summary>
    private static string? FindRefusal(SimulatedDisk image)
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

    /// <summary>
    /// Fails unless the node has everything, or an error names a path of the node. Damage may be found at the start or
    /// later.
    /// </summary>
    private static void AssertCompleteOrRefused(NodeWorkload run, SimulatedDisk image, string context)
    {
        try
        {
            run.CheckAll(image, context);
        }
        catch (IOException refusal)
        {
            Assert.True(
                refusal.Message.Contains("/data/node", StringComparison.Ordinal),
                $"{context}: {refusal.Message}"
            );
        }
        catch (Exception failure)
        {
            Assert.Fail($"{context}: {failure.Message}");
        }
    }
}
