using Rookery.Disk;
using Rookery.Documents;
using Rookery.Server;

namespace Rookery;

/// <summary>Opens the data of a node that does not run, for commands that work on it.</summary>
internal static class StoppedNode
{
    /// <summary>Runs <paramref name="work"/> on an opened node and closes it in order.</summary>
    /// <returns>The exit code: that of the work, or of why it could not begin.</returns>
    public static async Task<int> UseAsync(string directory, Func<Node, Task<int>> work)
    {
        string path = Path.GetFullPath(directory);
        long memory = MemorySize.DefaultBytes();
        ProcessMemory.Bound(memory);
        var disk = new PosixDisk();
        if (!disk.Exists(path))
        {
            return await RefuseAsync($"There is no directory {path}.", ExitCode.Configuration);
        }

        try
        {
            using var node = Node.Open(
                new NodeOptions { DataDirectory = path }, disk, new MemoryBudget(memory), new IoTimeline(TimeProvider.System, disk.DeviceOf(path)), TimeProvider.System);
            if (node.Diagnosis is { } diagnosis)
            {
                return await RefuseAsync(diagnosis, ExitCode.Failure);
            }

            int code = await work(node);
            node.StopCleanly();
            return code;
        }
        catch (DataDirectoryInUseException used)
        {
            return await RefuseAsync(used.Message, ExitCode.Configuration);
        }
        catch (IOException failure)
        {
            return await RefuseAsync(failure.Message, ExitCode.Failure);
        }
    }

    private static async Task<int> RefuseAsync(string sentence, int code)
    {
        await Console.Error.WriteLineAsync(sentence);
        return code;
    }
}
