using System.Net;
using System.Net.Http.Headers;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Joining;

/// <summary>
/// The joining node's side of a join. Finds a member, checks that it belongs to the token's cluster before sending the
/// secret, and persists the node's new identity.
/// </summary>
/// <param name="token">The join token.</param>
/// <param name="node">The joining node.</param>
/// <param name="time">The clock.</param>
public sealed class JoinClient(JoinToken token, JoiningNode node, TimeProvider time)
{
    // The time limit of a request. During an election an answer may take almost this long.
    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(20);

    // How long to repeat requests. A cluster that needs no operator recovers within this time.
    private static readonly TimeSpan RetryPeriod = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(500);

    /// <summary>
    /// Returns why a node cannot join with this data directory, in a sentence; null when it can. For a node of another
    /// cluster, <see cref="UnclaimedNode"/> decides whether its data is kept.
    /// </summary>
    public static string? WhyNot(IDisk disk, string dataDirectory, JoinToken token)
    {
        if (IdentityDirectory.ExistsIn(disk, dataDirectory))
        {
            using var member = IdentityDirectory.TryLoad(disk, dataDirectory)!;
            return string.Equals(member.ClusterId, token.ClusterId, StringComparison.Ordinal)
                ? $"The node of {dataDirectory} is {member.NodeName} of this cluster already: start it with "
                    + $"`rookery serve`. If the cluster says that it was removed, or is an old copy, let it join "
                    + $"with an empty data directory."
                : null;
        }

        if (IdentityDirectory.IsMovedAsideIn(disk, dataDirectory))
        {
            return null;
        }

        return NodeIds.TryRead(disk, dataDirectory) is { } ids
            ? $"{dataDirectory} holds the data of node {ids.NodeId}, and a node that joins receives the "
                + $"cluster's data instead. Nothing was changed. Name an empty data directory; `rookery export` "
                + $"exports the documents of this one."
            : Node.WhyNotNew(disk, new NodeOptions { DataDirectory = dataDirectory });
    }

    /// <summary>
    /// Returns why a node must not be started in a data directory, in sentences: a join began there, and the cluster
    /// may already count the node as a member. Null when no join began, or when it completed.
    /// </summary>
    public static string? WhyUnfinished(IDisk disk, string dataDirectory)
    {
        bool isMovedAside = IdentityDirectory.IsMovedAsideIn(disk, dataDirectory);
        bool hasBegun = isMovedAside || JoinAttempt.IsIn(disk, dataDirectory);
        if (!hasBegun || IdentityDirectory.ExistsIn(disk, dataDirectory))
        {
            return null;
        }

        string remains = isMovedAside ? $"everything in {dataDirectory}" : JoinAttempt.PathIn(dataDirectory);
        return $"A join of a cluster began in {dataDirectory} and has not ended, so the node is not served "
            + $"alone: the cluster may count it as a member already. Repeat that join, with the same token or "
            + $"another one of that cluster. To begin a node alone here instead, delete {remains}; and "
            + $"if the cluster's `rookery cluster node ls` shows the node, remove it there.";
    }

    /// <summary>Joins the cluster.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="dataDirectory">An empty or missing directory that no other process uses.</param>
    /// <param name="cancellationToken">Cancels the join.</param>
    /// <exception cref="JoinException">No member answers, or the cluster refuses. The join may be repeated with the
    /// same directory.</exception>
    public async Task<JoinedCluster> JoinAsync(IDisk disk, string dataDirectory, CancellationToken cancellationToken)
    {
        bool isFirst = !JoinAttempt.IsIn(disk, dataDirectory);
        var attempt = JoinAttempt.ResumeOrBegin(disk, dataDirectory, token.ClusterId);
        var request = new JoinRequest
        {
            Secret = token.Secret,
            NodeId = attempt.NodeId,
            Name = node.Name,
            Addresses = node.Addresses,
            CertificateRequest = NodeKey.RequestCertificate(attempt.Key),
            PublicUrl = node.PublicUrl,
            NewestFormatLevel = FormatLevel.Newest,
        };
        var answer = await AskFirstAsync();
        using var identity = new NodeIdentity
        {
            ClusterId = answer.ClusterId,
            ClusterName = answer.ClusterName,
            NodeId = request.NodeId,
            NodeName = answer.Name,
            Tag = answer.Tag,
            Peers = [.. answer.Members.Select(member => new KnownPeer(member.NodeId, member.Addresses))],
            ConfiguredAddresses = node.HasConfiguredAddresses ? node.Addresses : [],
            ConfiguredUrl = node.PublicUrl,
            Key = attempt.Key,
            Certificate = X509CertificateLoader.LoadCertificate(answer.Certificate),
            Authorities = [.. answer.Authorities.Select(authority => X509CertificateLoader.LoadCertificate(authority))],
            SealedAuthorityKey = answer.SealedAuthorityKey,
        };
        if (identity.WhyInconsistent() is { } mismatch)
        {
            throw new JoinException(
                $"The cluster's answer cannot be used: {mismatch} Let the node join again with another token."
            );
        }

        IdentityDirectory.Create(disk, dataDirectory, identity);
        JoinAttempt.Forget(disk, dataDirectory);

        // The note may contain a vow to join another founder, which this node never joins now.
        FormingNote.Forget(disk, dataDirectory);
        return new JoinedCluster(
            identity.ClusterId,
            identity.ClusterName,
            identity.NodeId,
            answer.Name,
            answer.Tag,
            [.. answer.Members.Select(member => member.Name)]
        );

        async Task<JoinAnswer> AskFirstAsync()
        {
            try
            {
                return await AskAsync(request, cancellationToken);
            }
            catch (JoinException refused) when (isFirst && refused.IsNotAdmitted)
            {
                // No cluster knows this id, so the directory is free for another use.
                attempt.Key.Dispose();
                JoinAttempt.Forget(disk, dataDirectory);
                throw;
            }
        }
    }

    /// <summary>
    /// Records in the identity that the joined node, the second of two, is to be a mirror: a voter too. The node
    /// announces that to the cluster at its first start.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="dataDirectory">The data directory. The caller has held its lock since before the join, so no node
    /// runs on it.</param>
    public static void ChooseMirror(IDisk disk, string dataDirectory)
    {
        using var identity = IdentityDirectory.TryLoad(disk, dataDirectory)!;
        IdentityDirectory.Update(disk, dataDirectory, identity.AsMirror());
    }

    /// <summary>
    /// Asks until a member decides. Once a member was reached, repeats this for a minute, because the request may have
    /// succeeded and the answer been lost.
    /// </summary>
    private async Task<JoinAnswer> AskAsync(JoinRequest request, CancellationToken cancellationToken)
    {
        long startedAt = time.GetTimestamp();
        bool wasReached = false;
        while (true)
        {
            var round = await AskAllAsync(request, wasReached, cancellationToken);
            if (round.Answer is not null)
            {
                return round.Answer;
            }

            wasReached = round.WasReached;
            if (!wasReached || time.GetElapsedTime(startedAt) >= RetryPeriod)
            {
                throw new JoinException(
                    $"No member of the cluster admitted the node. {string.Join(" ", round.Troubles)} Check "
                        + $"that a member runs and can be reached from here on its port for members, and repeat the "
                        + $"command: the node asks with the same id each time, so its token stays valid even if a "
                        + $"member has admitted the node already."
                );
            }

            await Task.Delay(RetryDelay, time, cancellationToken);
        }
    }

    /// <summary>Asks each address in the token once, and the leader that a member refers to.</summary>
    private async Task<(JoinAnswer? Answer, bool WasReached, List<string> Troubles)> AskAllAsync(
        JoinRequest request,
        bool wasReached,
        CancellationToken cancellationToken
    )
    {
        var waiting = new Queue<string>(token.Addresses);
        var askedAddresses = new HashSet<string>(StringComparer.Ordinal);
        var troubles = new List<string>();
        while (waiting.TryDequeue(out string? address))
        {
            if (!askedAddresses.Add(address))
            {
                continue;
            }

            try
            {
                var (answer, refusal) = await AskAsync(address, request, cancellationToken);
                if (answer is not null)
                {
                    return (answer, WasReached: true, troubles);
                }

                if (refusal!.Error is not (JoinError.NotLeader or JoinError.Unavailable))
                {
                    throw new JoinException(refusal.Message)
                    {
                        // An earlier request may have been admitted, and its answer lost.
                        IsNotAdmitted = !wasReached && refusal.Error is not JoinError.Malformed,
                    };
                }

                wasReached = true;
                troubles.Add($"{address}: {refusal.Message}");
                waiting = new Queue<string>([.. refusal.Leader ?? [], .. waiting]);
            }
            catch (JoinException foreign) when (foreign.IsNotAdmitted && wasReached)
            {
                throw new JoinException(foreign.Message);
            }
            catch (Exception unreachable)
                when (unreachable is HttpRequestException or TaskCanceledException
                    && !cancellationToken.IsCancellationRequested
                )
            {
                wasReached |= !WasRefused(unreachable);
                troubles.Add($"{address}: {Explain(unreachable)}");
            }
        }

        return (null, wasReached, troubles);
    }

    private async Task<(JoinAnswer? Answer, JoinRefusal? Refusal)> AskAsync(
        string address,
        JoinRequest request,
        CancellationToken cancellationToken
    )
    {
        using var authority = await FindAuthorityAsync(address, cancellationToken);
        var rule = new PeerCertificateRule([authority], token.ClusterId);
        using var client = CreateClient(
            presented => rule.Judge(presented, PeerRole.Server).Refusal is null,
            rule.ChainPolicy(PeerRole.Server)
        );
        using var content = new ByteArrayContent(
            JsonSerializer.SerializeToUtf8Bytes(request, ClusterJson.Default.JoinRequest)
        );
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        using var response = await client.PostAsync(
            new Uri($"https://{address}{JoinRoutes.JoinPath}"),
            content,
            cancellationToken
        );
        byte[] body = await response.Content.ReadAsByteArrayAsync(cancellationToken);
        if (
            response.StatusCode == HttpStatusCode.OK
            && ClusterJson.TryRead(body, ClusterJson.Default.JoinAnswer) is { } answer
        )
        {
            return (answer, null);
        }

        return (null, ClusterJson.TryRead(body, ClusterJson.Default.JoinRefusal) ?? NotRookery(address));
    }

    /// <summary>
    /// Requests the authorities over an unauthenticated connection, and returns the one that the token pins.
    /// </summary>
    private async Task<X509Certificate2> FindAuthorityAsync(string address, CancellationToken cancellationToken)
    {
        using var client = CreateClient(
            static _ => true,
            new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                DisableCertificateDownloads = true,
                RevocationMode = X509RevocationMode.NoCheck,
            }
        );
        byte[] body = await client.GetByteArrayAsync(
            new Uri($"https://{address}{JoinRoutes.AuthorityPath}"),
            cancellationToken
        );
        var pinned = ClusterJson
            .TryRead(body, ClusterJson.Default.AuthorityList)
            ?.Authorities.FirstOrDefault(authority => SHA256.HashData(authority).AsSpan().SequenceEqual(token.Pin));
        return pinned is not null
            ? X509CertificateLoader.LoadCertificate(pinned)
            : throw new JoinException(
                $"The node at {address} does not belong to the token's cluster: its authority is "
                    + $"another one. The secret was not sent. Either that address now belongs to another machine, the "
                    + $"cluster's authority was rotated since, or an attacker intercepts the connection. Make another "
                    + $"token with `rookery cluster token create`, on a member that you trust."
            )
            {
                IsNotAdmitted = true,
            };
    }

    private static JoinRefusal NotRookery(string address) =>
        new(JoinError.Malformed, $"What answers at {address} is not Rookery, or another version of it.");

    private static HttpClient CreateClient(Func<X509Certificate2?, bool> accepts, X509ChainPolicy policy) =>
        new(
            new SocketsHttpHandler
            {
                UseProxy = false,
                AllowAutoRedirect = false,
                SslOptions = new SslClientAuthenticationOptions
                {
                    CertificateChainPolicy = policy,
                    RemoteCertificateValidationCallback = (_, presented, _, _) =>
                        accepts(presented as X509Certificate2),
                },
            }
        )
        {
            Timeout = RequestTimeout,
            MaxResponseContentBufferSize = 1 << 20,
        };

    /// <summary>Whether the failure proves that the request did not reach the member.</summary>
    private static bool WasRefused(Exception unreachable) =>
        unreachable
            is HttpRequestException
            {
                HttpRequestError: HttpRequestError.ConnectionError
                    or HttpRequestError.SecureConnectionError
                    or HttpRequestError.NameResolutionError
            };

    private static string Explain(Exception unreachable) =>
        unreachable switch
        {
            TaskCanceledException => $"it did not answer within {RequestTimeout.TotalSeconds} s.",
            { InnerException: System.Net.Sockets.SocketException refused } => refused.Message + ".",
            { InnerException: System.Security.Authentication.AuthenticationException } =>
                "its certificate was not signed by the authority that it shows, so the secret was not sent.",
            _ => unreachable.Message,
        };
}

/// <summary>The joining node.</summary>
/// <param name="Name">The requested name, a <see cref="MemberName"/>.</param>
/// <param name="Addresses">The addresses at which it will listen for members, <c>host:port</c>.</param>
/// <param name="PublicUrl">The URL at which clients reach it, if that differs from its own addresses; otherwise
/// null.</param>
public sealed record JoiningNode(string Name, IReadOnlyList<string> Addresses, string? PublicUrl)
{
    /// <summary>
    /// Whether the operator configured the addresses. They are then kept in addition to those at which it listens.
    /// </summary>
    public bool HasConfiguredAddresses { get; init; }
}

/// <summary>The cluster that a node has joined.</summary>
/// <param name="ClusterId">The cluster's random id.</param>
/// <param name="ClusterName">The cluster's name.</param>
/// <param name="NodeId">The node's random id.</param>
/// <param name="Name">The node's name.</param>
/// <param name="Tag">The node's tag.</param>
/// <param name="Members">The names of the other members.</param>
public sealed record JoinedCluster(
    string ClusterId,
    string ClusterName,
    string NodeId,
    string Name,
    string Tag,
    IReadOnlyList<string> Members
);
