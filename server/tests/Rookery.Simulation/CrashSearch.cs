using System.Globalization;
using System.Runtime.CompilerServices;

namespace Rookery.Simulation;

/// <summary>
/// Looks for a power cut that breaks a promise: runs a workload for several seeds, cuts each run at random operations,
/// and lets a check judge every image. The same call always tries the same points; with the environment variable
/// ROOKERY_CRASH_POINTS it tries more, with ROOKERY_CRASH=run:operation:image only one.
/// </summary>
public sealed class CrashSearch
{
    /// <summary>The number of crash images to check, over all runs.</summary>
    public int Points { get; init; } = 1000;

    /// <summary>The number of runs of the workload, with the seeds 0, 1, 2, …</summary>
    public int Runs { get; init; } = 10;

    /// <summary>Whether the environment asks for one point only.</summary>
    public static bool IsReplay => ReplayedPoint.Length > 0;

    /// <summary>The number of crash images checked so far.</summary>
    public int Judged { get; private set; }

    private static string ReplayedPoint => Environment.GetEnvironmentVariable("ROOKERY_CRASH") ?? string.Empty;

    /// <summary>Fails with the first point whose check throws, and says how to replay it.</summary>
    /// <param name="workload">Runs the work of a seed on a disk of its own. Returns the disk and the run, which knows
    /// what was promised and when (<see cref="SimulatedDisk.OperationCount"/>).</param>
    /// <param name="check">Opens the image. Throws unless everything is there that was promised up to the operation of
    /// the power cut.</param>
    /// <param name="testFile">Given by the compiler.</param>
    /// <param name="test">Given by the compiler.</param>
    /// <exception cref="CrashFoundException">A check threw.</exception>
    public void Verify<TRun>(
        Func<int, (SimulatedDisk Disk, TRun Run)> workload,
        Action<SimulatedDisk, TRun, int> check,
        [CallerFilePath] string testFile = "",
        [CallerMemberName] string test = ""
    )
    {
        if (Find(workload, check) is { } failure)
        {
            string project = Path.GetFileName(Path.GetDirectoryName(testFile)) ?? string.Empty;
            throw new CrashFoundException(
                $"{failure.Cause.Message}\nPower loss {failure.Point} breaks a promise. Replay: "
                    + $"ROOKERY_CRASH={failure.Point} dotnet test server/tests/{project} --filter "
                    + $"FullyQualifiedName~{Path.GetFileNameWithoutExtension(testFile)}.{test}",
                failure.Cause
            );
        }
    }

    /// <summary>Returns the first point whose check throws, with the exception; null if none does.</summary>
    public (CrashPoint Point, Exception Cause)? Find<TRun>(
        Func<int, (SimulatedDisk Disk, TRun Run)> workload,
        Action<SimulatedDisk, TRun, int> check
    )
    {
        if (IsReplay)
        {
            var point = CrashPoint.Parse(ReplayedPoint);
            var (disk, run) = workload(point.Run);
            return Try(disk, run, check, point);
        }

        int points = int.TryParse(
            Environment.GetEnvironmentVariable("ROOKERY_CRASH_POINTS"),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out int requestedPoints
        )
            ? requestedPoints
            : Points;
        for (int seed = 0; seed < Runs; seed++)
        {
            var (disk, run) = workload(seed);
            var random = new Random(seed);
            for (int i = 0; i < (points + Runs - 1) / Runs; i++)
            {
                if (Try(disk, run, check, new CrashPoint(seed, random.Next(disk.OperationCount + 1), i)) is { } failure)
                {
                    return failure;
                }
            }
        }

        return null;
    }

    private (CrashPoint Point, Exception Cause)? Try<TRun>(
        SimulatedDisk disk,
        TRun run,
        Action<SimulatedDisk, TRun, int> check,
        CrashPoint point
    )
    {
        Judged++;
        try
        {
            check(disk.CrashAt(point.Operation, point.Image), run, point.Operation);
            return null;
        }
        catch (Exception cause)
        {
            return (point, cause);
        }
    }
}

/// <summary>One power cut of a search.</summary>
/// <param name="Run">The seed of the workload.</param>
/// <param name="Operation">The number of disk operations that had returned.</param>
/// <param name="Image">The seed that chose the surviving data.</param>
public readonly record struct CrashPoint(int Run, int Operation, long Image)
{
    /// <summary>Parses the text that <see cref="ToString"/> returns.</summary>
    public static CrashPoint Parse(string text)
    {
        string[] parts = text.Split(':');
        return new CrashPoint(
            int.Parse(parts[0], CultureInfo.InvariantCulture),
            int.Parse(parts[1], CultureInfo.InvariantCulture),
            long.Parse(parts[2], CultureInfo.InvariantCulture)
        );
    }

    /// <summary>Returns the point as <c>run:operation:image</c>.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Run}:{Operation}:{Image}");
}

/// <summary>A power cut broke a promise; the message says which and how to replay it.</summary>
public sealed class CrashFoundException(string message, Exception cause) : Exception(message, cause);
