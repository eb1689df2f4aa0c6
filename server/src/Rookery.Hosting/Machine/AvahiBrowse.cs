using System.ComponentModel;
using System.Diagnostics;
using System.Net;
using Rookery.Board.Doctor;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;

namespace Rookery.Hosting.Machine;

/// <summary>Finds the nodes that are announced in the local network, by avahi-browse.</summary>
public static class AvahiBrowse
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(6);

    /// <summary>
    /// Runs avahi-browse. Returns the services found, why it failed (null if it did not), and whether it is not
    /// installed.
    /// </summary>
    public static async Task<(IReadOnlyList<MdnsService> Found, string? Trouble, bool IsMissing)> RunAsync(
        CancellationToken cancellationToken
    )
    {
        try
        {
            using var process = Process.Start(
                new ProcessStartInfo("avahi-browse", ["--terminate", "--parsable", "--resolve", "_rookery._tcp"])
                {
                    RedirectStandardOutput = true,
                    RedirectStandardError = true,
                    UseShellExecute = false,
                }
            );
            if (process is null)
            {
                return (Found: [], Trouble: null, IsMissing: true);
            }

            var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
            var errors = process.StandardError.ReadToEndAsync(cancellationToken);
            using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            timeout.CancelAfter(Timeout);
            try
            {
                await process.WaitForExitAsync(timeout.Token);
            }
            catch (OperationCanceledException)
            {
                // avahi-browse waits for a service that cannot be resolved. Use the services that it printed before.
                process.Kill();
                cancellationToken.ThrowIfCancellationRequested();
                return (NetworkTables.Services(await output), Trouble: null, IsMissing: false);
            }

            if (process.ExitCode == 0)
            {
                return (NetworkTables.Services(await output), Trouble: null, IsMissing: false);
            }

            string messages = (await errors).Trim();
            string trouble =
                messages.Length > 0 ? messages.Split('\n')[^1] : $"avahi-browse ended with {process.ExitCode}.";
            return (Found: [], trouble, IsMissing: false);
        }
        catch (Win32Exception)
        {
            return (Found: [], Trouble: null, IsMissing: true);
        }
    }

    /// <summary>
    /// Returns the nodes whose announcements contain all that another member needs to connect to them.
    /// </summary>
    /// <exception cref="IOException">avahi-browse failed or is not installed.</exception>
    public static async Task<IReadOnlyList<AnnouncedNode>> FindNodesAsync(CancellationToken cancellationToken)
    {
        var (services, trouble, isMissing) = await RunAsync(cancellationToken);
        if (isMissing || trouble is not null)
        {
            string reason = isMissing
                ? "avahi-browse is not installed. Install Debian's package avahi-utils."
                : trouble!;
            throw new IOException($"Nodes cannot be looked for by mDNS: {reason}");
        }

        return [.. services.Select(ToNode).OfType<AnnouncedNode>()];
    }

    /// <summary>
    /// Returns null if the announcement is incomplete, or has a link-local address, which is useless without its
    /// interface.
    /// </summary>
    private static AnnouncedNode? ToNode(MdnsService service) =>
        service
            is {
                NodeId: { } node,
                ClusterId: { } cluster,
                Name: { } name,
                PeerPort: { } port and > 0 and <= IPEndPoint.MaxPort
            }
        && MemberName.IsValid(name)
        && IPAddress.TryParse(service.Address, out var address)
        && !address.IsIPv6LinkLocal
            ? new AnnouncedNode(node, name, cluster, new IPEndPoint(address, port).ToString(), service.FormingMark)
            : null;
}
