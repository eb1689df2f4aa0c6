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

/// <summary>A running node, who asks it, and whom to trust.</summary>
/// <param name="Address">Where it answers.</param>
/// <param name="Token">Who asks; null for plain HTTP on this machine.</param>
/// <param name="Authorities">Whom to trust; null for those that the system trusts.</param>
internal sealed record NodeConnection(Uri Address, string? Token, X509Certificate2Collection? Authorities)
{
    private const int SilentSeconds = 30;
    private const int AskEverySeconds = 10;
    private const int AskTimes = 6;

    /// <summary>
    /// Whether the command that asks would find a running node by --data too. To `backup` and `export` that means a
    /// stopped one, and others have no such option.
    /// </summary>
    public bool IsFoundByData { get; init; }

    /// <summary>Whether the command that asks can be told to take what this node has.</summary>
    public bool HasLocalReads { get; init; }

    /// <summary>
    /// How long a connection may take. Where no machine is, the system goes on for more than two minutes; one that is
    /// there answers at once, or, over a network that loses packets, when it is asked the third time, after 3 s.
    /// </summary>
    public TimeSpan ConnectPatience { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>The running node that wrote down how to reach it.</summary>
    /// <param name="local">What it wrote.</param>
    /// <param name="disk">Where its data directory lies.</param>
    /// <param name="directory">The data directory.</param>
    /// <exception cref="IdentityException">Whom to trust cannot be read.</exception>
    public static NodeConnection Of(LocalAccess local, IDisk disk, string directory) =>
        new(local.Address, local.Token, local.Token is null ? null : IdentityDirectory.AuthoritiesIn(disk, directory));

    /// <summary>A client for it, which the caller disposes.</summary>
    /// <param name="patience">How long an answer may take.</param>
    public HttpClient NewClient(TimeSpan patience)
    {
        var handler = new SocketsHttpHandler
        {
            AllowAutoRedirect = false,
            UseProxy = false,
            ConnectCallback = ConnectAsync,
        };
        handler.SslOptions.RemoteCertificateValidationCallback = (_, _, _, wrong) =>
            wrong == SslPolicyErrors.None ? true : throw new AdminException(Describe(wrong), ExitCode.Failure);
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
            Timeout = patience,
            MaxResponseContentBufferSize = ForeignAnswer.MostBytes,
        };
        if (Token is not null)
        {
            client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Token);
        }

        return client;
    }

    /// <summary>What went wrong when it was asked, in sentences.</summary>
    /// <param name="failure">What the client threw.</param>
    /// <param name="named">How the node can be named instead.</param>
    public string Describe(HttpRequestException failure, string named) =>
        failure.InnerException switch
        {
            AdminException untrusted => untrusted.Message,
            AuthenticationException disagreed => $"What answers at {Address} could not agree on TLS "
                + $"({disagreed.GetBaseException().Message.TrimEnd('.')}); look whether it is http.",
            _ when Address.Scheme is "http"
                    && failure.HttpRequestError is HttpRequestError.ResponseEnded or HttpRequestError.InvalidResponse =>
                $"What answers at {Address} is no Rookery, or speaks TLS: look whether it is https.",
            SocketException refused => $"No node answers at {Address} ({refused.Message}). {named}",
            _ => $"No node answers at {Address} ({failure.HttpRequestError}). {named}",
        };

    /// <summary>
    /// A node that lost its power says nothing any more: the system asks a silent connection whether somebody is there,
    /// so that a download ends that would wait for ever.
    /// </summary>
    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext wanted, CancellationToken cancellation)
    {
        var addresses = await Dns.GetHostAddressesAsync(wanted.DnsEndPoint.Host, cancellation);
        for (int index = 0; ; index++)
        {
            try
            {
                return await ConnectAsync(new IPEndPoint(addresses[index], wanted.DnsEndPoint.Port), cancellation);
            }
            catch (SocketException) when (index + 1 < addresses.Length)
            {
                // A name may have an address that the network swallows, and another one that answers.
            }
        }
    }

    private async Task<Stream> ConnectAsync(IPEndPoint address, CancellationToken cancellation)
    {
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, SilentSeconds);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, AskEverySeconds);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, AskTimes);
            using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
            patience.CancelAfter(ConnectPatience);
            await socket.ConnectAsync(address, patience.Token);
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

    private string Describe(SslPolicyErrors wrong) =>
        wrong.HasFlag(SslPolicyErrors.RemoteCertificateChainErrors)
            ? $"The node at {Address} shows a certificate of an authority that is not trusted here, or one "
                + $"that has ended. Name its cluster's with --ca: the file cluster/authority.pem of its data "
                + $"directory."
            : $"The node at {Address} shows a certificate that is not for that name. Name it as its "
                + $"certificate does: by its NAME.local, or an address of its own.";
}
