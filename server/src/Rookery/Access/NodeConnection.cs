using System.Net;
using System.Net.Http.Headers;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Access;

/// <summary>How to connect to a running node: its address, the token to send, the authorities to trust.</summary>
/// <param name="Address">The node's address.</param>
/// <param name="Token">The bearer token; null for none.</param>
/// <param name="Authorities">The trusted authorities; null for those of the system.</param>
internal sealed record NodeConnection(Uri Address, string? Token, X509Certificate2Collection? Authorities)
{
    private const int KeepAliveTimeSeconds = 30;
    private const int KeepAliveIntervalSeconds = 10;
    private const int KeepAliveRetries = 6;

    /// <summary>
    /// Whether the command accepts --data for a running node. For `backup` and `export` that option names a stopped
    /// node, and some commands do not have it.
    /// </summary>
    public bool IsFoundByData { get; init; }

    /// <summary>
    /// What the user can check or name if no node answers, as a sentence; empty for none. It never proposes an option
    /// that the user has given.
    /// </summary>
    public string NoAnswerHint { get; init; } = string.Empty;

    /// <summary>Whether the command has the option --local.</summary>
    public bool HasLocalReads { get; init; }

    /// <summary>
    /// How long to wait for a connection. The kernel waits more than two minutes for a machine that is off. A machine
    /// that is on answers at once or, if two packets are lost, after 3 seconds.
    /// </summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Creates the connection to the running node of a data directory.</summary>
    /// <param name="local">The node's file local-access.</param>
    /// <param name="disk">The disk of the data directory.</param>
    /// <param name="directory">The data directory.</param>
    /// <exception cref="IdentityException">The authorities' certificates cannot be read.</exception>
    public static NodeConnection Of(LocalAccess local, IDisk disk, string directory) =>
        new(local.Address, local.Token, local.Token is null ? null : IdentityDirectory.AuthoritiesIn(disk, directory))
        {
            NoAnswerHint = $"There the node of {directory} was last started; check whether it runs.",
        };

    /// <summary>Creates an HTTP client, which the caller disposes.</summary>
    /// <param name="timeout">The time limit of a response.</param>
    public HttpClient NewClient(TimeSpan timeout)
    {
        var handler = new SocketsHttpHandler
        {
            AllowAutoRedirect = false,
            UseProxy = false,
            ConnectCallback = ConnectAsync,
        };
        handler.SslOptions.RemoteCertificateValidationCallback = (_, _, _, errors) =>
            errors == SslPolicyErrors.None ? true : throw new AdminException(Describe(errors), ExitCode.Failure);
        if (Authorities is not null)
        {
            var policy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck,
                DisableCertificateDownloads = true,
            };
            policy.CustomTrustStore.AddRange(Authorities);
            handler.SslOptions.CertificateChainPolicy = policy;
        }

        var client = new HttpClient(handler)
        {
            Timeout = timeout,
            MaxResponseContentBufferSize = ForeignAnswer.MaxBytes,
        };
        if (Token is not null)
        {
            client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Token);
        }

        return client;
    }

    /// <summary>Describes a failed request in sentences.</summary>
    /// <param name="failure">The exception of the HTTP client.</param>
    public string Describe(HttpRequestException failure) =>
        failure.InnerException switch
        {
            AdminException untrusted => untrusted.Message,
            AuthenticationException disagreed => $"The server at {Address} did not complete the TLS handshake "
                + $"({disagreed.GetBaseException().Message.TrimEnd('.')}). Check whether its address begins with http.",
            _ when Address.Scheme is "http"
                    && failure.HttpRequestError is HttpRequestError.ResponseEnded or HttpRequestError.InvalidResponse =>
                $"The server at {Address} is not Rookery, or uses TLS. Check whether its address begins with https.",
            SocketException refused => NoAnswer(refused.Message),
            _ => NoAnswer($"{failure.HttpRequestError}"),
        };

    /// <summary>Describes in sentences that no node answers.</summary>
    /// <param name="reason">The reason.</param>
    public string NoAnswer(string reason) => $"No node answers at {Address} ({reason}). {NoAnswerHint}".TrimEnd();

    /// <summary>
    /// Connects with TCP keep-alive, so that a download from a machine that lost its power ends instead of waiting for
    /// ever.
    /// </summary>
    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellation)
    {
        string host = context.DnsEndPoint.Host;
        var addresses = Address.IsLoopback
            ? await ThisMachine.ResolveAsync(host, cancellation)
            : await Dns.GetHostAddressesAsync(host, cancellation);
        for (int index = 0; ; index++)
        {
            try
            {
                return await ConnectAsync(new IPEndPoint(addresses[index], context.DnsEndPoint.Port), cancellation);
            }
            catch (SocketException) when (index + 1 < addresses.Length)
            {
                // A name may have an address that does not respond and another that does.
            }
        }
    }

    private async Task<Stream> ConnectAsync(IPEndPoint address, CancellationToken cancellation)
    {
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, KeepAliveTimeSeconds);
            socket.SetSocketOption(
                SocketOptionLevel.Tcp,
                SocketOptionName.TcpKeepAliveInterval,
                KeepAliveIntervalSeconds
            );
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, KeepAliveRetries);
            using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
            timeout.CancelAfter(ConnectTimeout);
            await socket.ConnectAsync(address, timeout.Token);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            socket.Dispose();
            throw new SocketException((int)SocketError.TimedOut);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private string Describe(SslPolicyErrors errors) =>
        errors.HasFlag(SslPolicyErrors.RemoteCertificateChainErrors)
            ? $"The certificate of the node at {Address} has expired, or "
                + (
                    Authorities is null
                        ? "its authority is not trusted here. Name its cluster's authority with --ca: "
                        : "was not issued by the authority that is named here. Check that this is its cluster's "
                            + "present authority: "
                )
                + "the file cluster/authority.pem in the node's data directory."
            : $"The certificate of the node at {Address} is not for that name. Use a name of its "
                + $"certificate: NAME.local, or an address of its machine.";
}
