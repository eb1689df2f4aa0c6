using System.Text;
using Rookery.Documents.Nodes;
using Rookery.Documents.Recovery;
using Rookery.Hosting.Logging;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Runs a node in this process: bounds the memory, joins the cluster that has admitted the node, serves, and stops on a
/// signal.
/// </summary>
public static class NodeProcess
{
    /// <summary>Runs a node until SIGTERM or SIGINT, and returns after a clean stop.</summary>
    /// <param name="configuration">The configuration.</param>
    /// <param name="debugParts">The parts of a debug package that describe the machine.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="ConfigurationException">An address or directory cannot be used, or another process uses
    /// it.</exception>
    public static async Task RunAsync(
        ServeConfiguration configuration,
        IReadOnlyList<DebugPart> debugParts,
        TimeProvider time
    )
    {
        using var stop = new StopSignal();
        ProcessMemory.Bound(configuration.MemoryBytes);
        RaiseMinimumThreads();
        var log = new StandardErrorLog(time);
        using var fatal = new FatalFailure(log);
        var disk = new PosixDisk();
        using var systemd = new SystemdNotifier(disk);
        using (new StartInterruption(stop.Received, log, time, Environment.Exit))
        {
            SettleRecovery(configuration, disk);
        }

        // A node that is admitted to a cluster while it serves stops, joins, and serves again as a member, all in this
        // process. It keeps its claim code, because a screen may show it.
        var secrets = AccessSecrets.Create(ReadPresetClaimCode(configuration.ClaimCodeFile));
        log.Recent.Secrets.Hide(secrets.ClaimCode);
        log.Recent.Secrets.Hide(secrets.LocalToken);
        var setting = new NodeSetting(
            configuration,
            secrets,
            Webhook.ReadToken(configuration.Webhook, log.Recent.Secrets),
            debugParts,
            disk,
            systemd,
            log,
            time
        );
        while (await JoinAsync(setting, stop) && await ServeAsync(setting, stop)) { }
    }

    private static async Task<bool> JoinAsync(NodeSetting setting, StopSignal stop)
    {
        using var interruption = InterruptStart(setting, stop);
        return await FormedMember.JoinAsync(
            setting.Disk,
            setting.Configuration,
            setting.Systemd,
            setting.Log,
            setting.Time,
            stop.Received
        );
    }

    /// <summary>Serves until the process must stop or other nodes have admitted this one to their cluster.</summary>
    /// <returns>Whether the node was admitted.</returns>
    private static async Task<bool> ServeAsync(NodeSetting setting, StopSignal stop)
    {
        await using var parts = new NodeParts();
        var admitted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var node = await StartAsync(setting, stop, parts, admitted);
        bool isJoining = await Task.WhenAny(stop.Received, admitted.Task) == admitted.Task;
        using var deadline = new StopDeadline(setting.Log, setting.Time, Environment.Exit);
        if (!isJoining)
        {
            setting.Systemd.NotifyStopping();
        }

        await node.StopAsync(deadline);
        return isJoining;
    }

    private static async Task<ServedNode> StartAsync(
        NodeSetting setting,
        StopSignal stop,
        NodeParts parts,
        TaskCompletionSource admitted
    )
    {
        using var interruption = InterruptStart(setting, stop);
        return await ServedNode.StartAsync(setting, parts, admitted);
    }

    private static StartInterruption InterruptStart(NodeSetting setting, StopSignal stop) =>
        new(stop.Received, setting.Log, setting.Time, Environment.Exit);

    // Completes an interrupted `rookery cluster recover`, and refuses data of a newer program. Runs before the node's
    // identity is read.
    private static void SettleRecovery(ServeConfiguration configuration, PosixDisk disk)
    {
        try
        {
            FormatLevel.Check(disk, configuration.DataDirectory);
            DataRecovery.Settle(
                disk,
                new NodeOptions
                {
                    DataDirectory = configuration.DataDirectory,
                    JournalDirectory = configuration.JournalDirectory,
                }
            );
        }
        catch (Exception unusable)
            when (unusable is DataDirectoryInUseException or DataFormatException or DiskException)
        {
            throw new ConfigurationException(unusable.Message);
        }
    }

    private static string? ReadPresetClaimCode(string? path)
    {
        if (path is null)
        {
            return null;
        }

        string code = Encoding.UTF8.GetString(ConfigurationFiles.ReadBytes(path, "The file of the claim code"));
        return ClaimCode.WhyUnusable(code) is { } why
            ? throw new ConfigurationException($"The claim code in {path} {why}.")
            : code.Trim();
    }

    // Raises the minimum of the thread pool (one per core), beyond which it adds threads only after a delay. Requests
    // can block threads: a lone writer waits for the disk on its request's thread, and a reader may as well.
    private static void RaiseMinimumThreads()
    {
        ThreadPool.GetMinThreads(out int workers, out int completions);
        ThreadPool.SetMinThreads(workers + 2, completions);
    }
}
