using Microsoft.Extensions.Logging;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Forms a cluster with other nodes automatically if the configuration contains the setting <c>form</c>, and joins the
/// cluster once the other nodes have admitted this one.
/// </summary>
internal static class FormedMember
{
    private const UnixFileMode AccessOfOthers =
        UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    private const string Joining =
        "This node joins the cluster that it formed with others, and serves nothing until it has joined.";

    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(10);

    /// <summary>Returns the options for forming a cluster; null if the configuration lacks the setting.</summary>
    /// <param name="configuration">The configuration.</param>
    /// <param name="announcement">The mDNS announcement; null without one.</param>
    /// <param name="secrets">Receives the phrase, so that logs and debug packages do not contain it.</param>
    /// <param name="admitted">Completes when the other nodes have admitted this one.</param>
    public static FormingOptions? OptionsFor(
        ServeConfiguration configuration,
        ServiceAnnouncement? announcement,
        SecretFilter secrets,
        TaskCompletionSource admitted
    ) =>
        configuration.Form is not { } form
            ? null
            : new FormingOptions
            {
                Expect = form.Expect,
                ReadPhrase = () =>
                {
                    string phrase = ReadPhrase(form.PhraseFile);
                    secrets.Hide(phrase);
                    return phrase;
                },
                Announce = mark => announcement?.SetMark(mark),
                Admitted = () => admitted.TrySetResult(),
            };

    /// <summary>
    /// Joins the cluster that has admitted this node, if there is one. Retries every ten seconds until a member
    /// answers.
    /// </summary>
    /// <returns>False if the process must stop before the node has joined.</returns>
    /// <exception cref="ConfigurationException">The node's identity cannot be read, or another process holds its
    /// data.</exception>
    public static async Task<bool> JoinAsync(
        PosixDisk disk,
        ServeConfiguration configuration,
        SystemdNotifier systemd,
        ILogger log,
        TimeProvider time,
        Task stopping
    )
    {
        try
        {
            string directory = configuration.DataDirectory;
            if (FindJoin(disk, directory, log) is not { } join)
            {
                return true;
            }

            string? whyNotJoining = join.Begin(
                disk,
                new NodeOptions { DataDirectory = directory },
                new MemoryBudget(configuration.MemoryBytes),
                new IoTimeline(time, disk.DeviceOf(directory)),
                time
            );
            if (whyNotJoining is not null)
            {
                log.LogWarning(
                    LogEvents.JoinDeclined,
                    "Others formed a cluster and admitted this node, but it does not join: {Reason}",
                    whyNotJoining
                );
                return true;
            }

            // Joining waits until a member answers, perhaps for hours. Without this notification systemd would kill the
            // service, and delay the units that are ordered after it.
            systemd.NotifyReady(Joining);
            using var cancellation = new CancellationTokenSource();
            var ending = stopping.ContinueWith(
                _ => cancellation.Cancel(),
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default
            );
            return await JoinAsync(join, disk, configuration, systemd, log, time, cancellation.Token);
        }
        catch (Exception unusable)
            when (unusable is IdentityException or DataDirectoryInUseException or DataFormatException or DiskException)
        {
            throw new ConfigurationException(unusable.Message);
        }
    }

    private static async Task<bool> JoinAsync(
        FormedJoin join,
        PosixDisk disk,
        ServeConfiguration configuration,
        SystemdNotifier systemd,
        ILogger log,
        TimeProvider time,
        CancellationToken stopping
    )
    {
        var node = new JoiningNode(
            join.NodeName,
            [.. PeerAddresses.Of(configuration.PeerListen).Take(MemberAddress.MaxAddresses)],
            configuration.PublicUrl
        );
        IReadOnlyList<string> announced = [];
        string? loggedReason = null;
        try
        {
            while (true)
            {
                try
                {
                    await join.CompleteAsync(disk, configuration.DataDirectory, announced, node, time, stopping);
                    log.LogInformation(LogEvents.Joined, "This node has joined its cluster.");
                    return true;
                }
                catch (JoinException refused)
                {
                    systemd.SetStatus($"{Joining} {refused.Message}");
                    if (!string.Equals(loggedReason, refused.Message, StringComparison.Ordinal))
                    {
                        loggedReason = refused.Message;
                        log.LogWarning(
                            LogEvents.JoinWaits,
                            "This node was admitted to a cluster and has not joined it yet; it asks again every "
                                + "{Seconds} s. {Reason} If that cluster is gone for good, stop this node, and let "
                                + "it join another: `rookery cluster join TOKEN --data {Directory}`.",
                            RetryInterval.TotalSeconds,
                            loggedReason,
                            configuration.DataDirectory
                        );
                    }

                    await Task.Delay(RetryInterval, time, stopping);
                    announced = await FindAnnouncedAddressesAsync(join.Token.ClusterId, stopping);
                }
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <summary>
    /// Returns the addresses that members of the cluster announce now. The addresses in the token may be outdated after
    /// a power cut.
    /// </summary>
    private static async Task<IReadOnlyList<string>> FindAnnouncedAddressesAsync(
        string clusterId,
        CancellationToken stopping
    )
    {
        try
        {
            return
            [
                .. from node in await AvahiBrowse.FindNodesAsync(stopping)
                where string.Equals(node.ClusterId, clusterId, StringComparison.Ordinal)
                select node.Address,
            ];
        }
        catch (IOException)
        {
            // Without mDNS only the addresses in the token are tried.
            return [];
        }
    }

    // Returns the cluster that has admitted this node; null if there is none, or if its file cannot be read.
    private static FormedJoin? FindJoin(PosixDisk disk, string directory, ILogger log)
    {
        try
        {
            return FormedJoin.Find(disk, directory);
        }
        catch (IdentityException damaged)
        {
            log.LogError(LogEvents.JoinUnreadable, "{Reason}", damaged.Message);
            return null;
        }
    }

    private static string ReadPhrase(string path)
    {
        try
        {
            string phrase = File.ReadAllText(path);
            if ((new FileInfo(path).UnixFileMode & AccessOfOthers) != UnixFileMode.None)
            {
                throw new ConfigurationException(
                    $"{path} holds the phrase, and other users can read it. Run `chmod 600 {path}`."
                );
            }

            if (FormingPhrase.WhyTooShort(phrase) is { } tooShort)
            {
                throw new ConfigurationException(tooShort);
            }

            return phrase;
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw new ConfigurationException($"The phrase cannot be read from {path}: {unreadable.Message}");
        }
    }
}
