using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>Each disk operation of a whole node fails in turn, or a byte of its files is damaged.</summary>
[Trait("Effort", "Whole")]
public sealed class NodeFaultTests
{
    private const int Seed = 3;
    private const int Rounds = 25;

    /// <summary>In each run another disk call of the work fails: only that call, or all from it on. A latched node
    /// refuses all writes.</summary>
    [Theory]
    [InlineData(Errno.InputOutput, DiskCalls.All, 0, false)]
    [InlineData(Errno.InputOutput, DiskCalls.Write, 700, false)]
    [InlineData(Errno.NoSpace, DiskCalls.Write, 5000, false)]
    [InlineData(Errno.NoSpace, DiskCalls.Changing, 0, true)]
    [InlineData(Errno.ReadOnly, DiskCalls.Changing, 0, true)]
    public void After_any_failed_disk_call_acknowledged_commands_survive_and_a_latched_node_answers_reads(
        Errno error,
        DiskCalls calls,
        int shortWriteBytes,
        bool sticky
    )
    {
        long count = NodeWorkload.RunWithFault(Seed, Rounds, fault: null).Disk.CallCount(calls);
        int refused = 0;
        for (long call = 1; call <= count; call++)
        {
            var fault = new DiskFault(call, error)
            {
                Calls = calls,
                ShortWriteBytes = shortWriteBytes,
                Sticky = sticky,
            };
            try
            {
                var (disk, run) = NodeWorkload.RunWithFault(Seed, Rounds, fault);
                refused += run.Failure is null ? 0 : 1;
                Assert.True(
                    run.Failure is null || run.Failure.Contains("/data", StringComparison.Ordinal),
                    run.Failure
                );
                disk.ClearFaults();
                disk.KillProcess();
                run.CheckOnce(disk.AfterPowerLoss(call), disk.OperationCount);
                run.CheckOnce(disk, disk.OperationCount);
            }
            catch (Exception failure)
            {
                Assert.Fail($"{fault}, seed {Seed}: {failure}");
            }
        }

        Assert.InRange(refused, 15, count);
    }

    /// <summary>A disk call that fails during recovery may fail this start, and must not harm the next one.</summary>
    [Fact]
    public void After_any_failed_disk_call_of_a_recovery_the_next_recovery_finds_all_data()
    {
        var (disk, run) = NodeWorkload.Run(Seed);
        int refused = 0;
        for (int seed = 0; seed < 2; seed++)
        {
            int operation = disk.OperationCount - (seed * 37);
            for (long call = 1; ; call++)
            {
                var image = disk.CrashAt(operation, seed);
                image.Inject(new DiskFault(call, call % 2 == 0 ? Errno.InputOutput : Errno.NoSpace));
                string? refusal = FindRefusal(image);
                long calls = image.CallCount(DiskCalls.All);
                refused += refusal is null ? 0 : 1;
                image.ClearFaults();
                image.KillProcess();
                try
                {
                    Assert.True(refusal is null || refusal.Contains("/data", StringComparison.Ordinal), refusal);
                    run.CheckOnce(image.AfterPowerLoss(call), operation);
                }
                catch (Exception failure)
                {
                    Assert.Fail(
                        $"crash at {operation}, image {seed}, call {call} of recovery, which said {refusal}: {failure}"
                    );
                }

                if (calls < call)
                {
                    break;
                }
            }
        }

        Assert.InRange(refused, 50, int.MaxValue);
    }

    /// <summary>One byte of one file rots. Each answer is then right, or is an error that names the file.</summary>
    [Fact]
    public void A_damaged_byte_anywhere_is_harmless_or_reported_by_name()
    {
        var (disk, run) = NodeWorkload.Run(Seed);
        run.StopCleanly();
        int harmless = 0;
        int reported = 0;
        foreach (string file in disk.Files.Where(static path => !path.EndsWith("/lock", StringComparison.Ordinal)))
        {
            int length = disk.ReadAll(file).Length;
            foreach (int offset in Offsets(length))
            {
                var image = disk.AfterPowerLoss(offset);
                image.Rot(file, offset, (byte)(1 << (offset % 8)));
                string context = $"{file}, byte {offset}";
                try
                {
                    run.CheckAll(image, context);
                    harmless++;
                }
                catch (IOException damage)
                {
                    // If a segment lost its header, the error of the next segment names it.
                    Assert.True(
                        damage.Message.Contains(Path.GetDirectoryName(file)! + "/", StringComparison.Ordinal),
                        $"{context}: {damage}"
                    );
                    reported++;
                }
                catch (Exception failure)
                {
                    Assert.Fail($"{context}: {failure}");
                }
            }
        }

        Assert.True(reported > 100 && harmless > 50, $"{reported} reported, {harmless} harmless");
    }

    /// <summary>Returns offsets to damage: densely in headers and footers, and about a dozen between.</summary>
    private static IEnumerable<int> Offsets(int length)
    {
        const int Head = 160;
        const int Foot = 64;
        for (int offset = 0; offset < length; )
        {
            yield return offset;
            int next = offset + (offset < Head || offset >= length - Foot ? 11 : Math.Max(11, length / 12));
            offset = offset < length - Foot ? Math.Min(next, Math.Max(offset + 1, length - Foot)) : next;
        }
    }

    private static string? FindRefusal(SimulatedDisk disk)
    {
        try
        {
            SteppedNode.Open(disk, new SimulatedTimeProvider()).Dispose();
            return null;
        }
        catch (IOException refused)
        {
            return refused.Message;
        }
    }
}
