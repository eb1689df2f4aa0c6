using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Joining;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Replaces the cluster's authority while the cluster runs, in three stages. First all members trust both authorities.
/// Then all members use certificates of the new one with each other. When the operator orders the third stage, clients
/// see the new certificates too, and the old authority is dropped. A stage begins only when every member has completed
/// the previous one, so no two members ever refuse each other. A member that is lost for good must be removed first.
/// </summary>
/// <param name="identity">Returns this member's current identity.</param>
/// <param name="change">Changes, persists and activates the identity.</param>
/// <param name="recordStore">The cluster's records.</param>
/// <param name="time">The clock.</param>
public sealed class AuthorityRotation(
    Func<NodeIdentity> identity,
    Action<Func<NodeIdentity, NodeIdentity?>> change,
    IJoinRecordStore recordStore,
    TimeProvider time
)
{
    /// <summary>
    /// The stage of the running rotation, and the names of the members that have not completed it; null when none is
    /// running.
    /// </summary>
    public (RotationStage Stage, IReadOnlyList<string> WaitsFor)? Status =>
        Find() is { } found
            ? (
                found.Rotation.Stage,
                [
                    .. MemberRecord
                        .All(recordStore)
                        .Where(member => !HasAcknowledged(found.Rotation, member.NodeId))
                        .Select(member => member.Record.Name),
                ]
            )
            : null;

    /// <summary>Begins a rotation; may be called on any member.</summary>
    /// <returns>Why it did not begin; null when it did.</returns>
    public async ValueTask<Rejection?> BeginAsync(CancellationToken cancellationToken)
    {
        if (!await recordStore.CatchUpAsync(cancellationToken))
        {
            return NoLeaderKnown;
        }

        if (Find() is not null)
        {
            return Conflict(
                "A rotation of the authority is under way already. `rookery cluster ca show` says what it waits for."
            );
        }

        var self = identity();
        using var next = ClusterAuthority.Create(
            self.ClusterId,
            self.ClusterName,
            NameConstraints.ReadFrom(self.Authorities[0]).Domains
        );
        var rotation = new RotationRecord
        {
            Certificate = next.Certificate.RawData,
            Stage = RotationStage.Trusting,
            Keys = SealFor(next, MemberRecord.All(recordStore)),
        };
        var deletions = recordStore
            .List(RotationRecord.Acknowledgements)
            .Select(record => new RecordChange(record.Key, Value: null, ExpectedVersion: null));
        return await recordStore.ChangeAsync(
            [new RecordChange(RotationRecord.Key, rotation.ToJson(), ClusterRecord.Absent), .. deletions],
            cancellationToken
        );
    }

    /// <summary>
    /// Begins the third stage, which drops the old authority. May be called on any member. Clients with the old
    /// authority's certificates are then refused.
    /// </summary>
    /// <returns>Why it did not begin; null when it did.</returns>
    public async ValueTask<Rejection?> RetireAsync(CancellationToken cancellationToken)
    {
        if (!await recordStore.CatchUpAsync(cancellationToken))
        {
            return NoLeaderKnown;
        }

        if (Find() is not { } found)
        {
            return Conflict("There is no old authority to retire. `rookery cluster ca rotate` makes a new one first.");
        }

        var (rotation, version) = found;

        string[] missing = [.. Status?.WaitsFor ?? []];
        string advice =
            missing.Length > 0
                ? $"{string.Join(", ", missing)}. Start them, or remove those that are gone for good, and try again."
                : "the rotation is still at its first stage. Try again in a few seconds.";
        if (rotation.Stage == RotationStage.Trusting || (rotation.Stage == RotationStage.Signing && missing.Length > 0))
        {
            return Conflict($"Not every member shows a certificate of the new authority yet: {advice}");
        }

        return rotation.Stage == RotationStage.Retiring
            ? null
            : await recordStore.ChangeAsync(
                [StoreChange(rotation with { Stage = RotationStage.Retiring }, version)],
                cancellationToken
            );
    }

    /// <summary>
    /// Does this member's work of the current stage, and seals the new key for members that joined meanwhile. On the
    /// leader, ends the stage when every member has completed it. Call it about once a second; without a rotation it
    /// reads one record.
    /// </summary>
    /// <exception cref="IOException">The identity could not be written, or the new authority's key could not be
    /// opened.</exception>
    public async ValueTask StepAsync(CancellationToken cancellationToken)
    {
        if (Find() is not { } found)
        {
            return;
        }

        var (rotation, version) = found;

        string self = identity().NodeId;
        change(current => NextIdentity(current, rotation));

        if (!HasAcknowledged(rotation, self) && HasCompleted(identity(), rotation))
        {
            await recordStore.ChangeAsync(
                [
                    new RecordChange(
                        RotationRecord.AcknowledgementOf(rotation.Stage, self),
                        rotation.Certificate,
                        ExpectedVersion: null
                    ),
                ],
                cancellationToken
            );
        }

        // A leader that joined after the rotation began lacks the new key, so any member that has the new key seals it
        // for the members without it.
        var members = MemberRecord.All(recordStore).ToArray();
        var keyless = members.Where(member => !rotation.Keys.ContainsKey(member.NodeId)).ToArray();
        if (keyless.Length > 0 && rotation.Keys.ContainsKey(self))
        {
            await recordStore.ChangeAsync(
                [StoreChange(rotation with { Keys = SealForJoined(rotation, keyless) }, version)],
                cancellationToken
            );
        }
        else if (recordStore.IsLeader && Array.TrueForAll(members, member => HasAcknowledged(rotation, member.NodeId)))
        {
            await AdvanceAsync(rotation, version, cancellationToken);
        }
    }

    private async ValueTask AdvanceAsync(RotationRecord rotation, long version, CancellationToken cancellationToken)
    {
        RecordChange[] changes = rotation.Stage switch
        {
            RotationStage.Trusting => [StoreChange(rotation with { Stage = RotationStage.Signing }, version)],
            RotationStage.Retiring =>
            [
                new RecordChange(RotationRecord.Key, Value: null, version),
                .. recordStore
                    .List(RotationRecord.Acknowledgements)
                    .Select(record => new RecordChange(record.Key, Value: null, ExpectedVersion: null)),
            ],
            _ => [],
        };
        if (changes.Length > 0)
        {
            // If the record changed meanwhile, nothing is stored, and another leader continues.
            await recordStore.ChangeAsync(changes, cancellationToken);
        }
    }

    /// <summary>
    /// Returns the identity that a member needs in the current stage; null when no change is needed or possible.
    /// </summary>
    private NodeIdentity? NextIdentity(NodeIdentity self, RotationRecord rotation)
    {
        if (HasCompleted(self, rotation))
        {
            return null;
        }

        var next = rotation.Load();
        X509Certificate2[] others = [.. self.Authorities.Where(authority => !IsNewAuthority(rotation, authority))];
        if (rotation.Stage == RotationStage.Trusting)
        {
            return self.With([.. others, next], self.SealedAuthorityKey, self.Certificate, earlierCertificate: null);
        }

        if (!IsSignedBy(self, next))
        {
            // A member that joined meanwhile has no key until another member seals it.
            return rotation.Keys.TryGetValue(self.NodeId, out byte[]? key)
                ? SignWithNewAuthority(self, next, key, others)
                : null;
        }

        return rotation.Stage == RotationStage.Retiring
            ? self.With([next], self.SealedAuthorityKey, self.Certificate, earlierCertificate: null)
            : null;
    }

    private NodeIdentity SignWithNewAuthority(
        NodeIdentity self,
        X509Certificate2 next,
        byte[] sealedKey,
        X509Certificate2[] others
    )
    {
        using var authority = ClusterAuthority.OpenKey(
            self.ClusterId,
            X509CertificateLoader.LoadCertificate(next.RawData),
            sealedKey,
            self.Key
        );
        var currentNames = SubjectAlternativeNames.ReadFrom(self.Certificate);
        var names = new NodeNames(self.NodeName, self.ClusterName, currentNames?.Addresses ?? [])
        {
            OtherDnsNames = currentNames?.DnsNames ?? [],
        };
        var clock = SigningClock.Of(recordStore.Time, time, isSynchronised: false);
        var signed = CertificateLife.SigningTime(clock, self.Certificate);
        return self.With(
            [next, .. others],
            sealedKey,
            authority.SignNode(new PublicKey(self.Key), self.NodeId, names, signed),
            self.Certificate
        );
    }

    /// <summary>Whether the identity is the one that the current stage requires.</summary>
    private static bool HasCompleted(NodeIdentity self, RotationRecord rotation) =>
        rotation.Stage switch
        {
            RotationStage.Trusting => self.Authorities.Any(authority => IsNewAuthority(rotation, authority)),
            RotationStage.Signing => IsNewAuthority(rotation, self.Authorities[0])
                && IsSignedBy(self, self.Authorities[0]),
            _ => self.Authorities.Count == 1 && IsNewAuthority(rotation, self.Authorities[0]),
        };

    /// <summary>
    /// Whether the authority is the member's first one and signed the certificate. Both are checked, because a power
    /// cut may happen after the authorities were written and before the certificate was.
    /// </summary>
    private static bool IsSignedBy(NodeIdentity self, X509Certificate2 authority) =>
        self.Authorities[0].RawDataMemory.Span.SequenceEqual(authority.RawDataMemory.Span)
        && AuthorityChain.WhyRefused(self.Certificate, [authority], ClusterAuthority.Server, now: null) is null;

    private static bool IsNewAuthority(RotationRecord rotation, X509Certificate2 authority) =>
        authority.RawDataMemory.Span.SequenceEqual(rotation.Certificate);

    /// <summary>
    /// Whether a member has acknowledged the current stage. Acknowledgements contain the new authority's certificate,
    /// so those of an earlier rotation do not count.
    /// </summary>
    private bool HasAcknowledged(RotationRecord rotation, string nodeId) =>
        recordStore.Find(RotationRecord.AcknowledgementOf(rotation.Stage, nodeId)) is { } acknowledgement
        && acknowledgement.Value.Span.SequenceEqual(rotation.Certificate);

    private (RotationRecord Rotation, long Version)? Find() =>
        recordStore.Find(RotationRecord.Key) is { } stored && RotationRecord.Parse(stored.Value.Span) is { } rotation
            ? (rotation, stored.Version)
            : null;

    /// <summary>Seals the new key for members that joined since the rotation began.</summary>
    private Dictionary<string, byte[]> SealForJoined(
        RotationRecord rotation,
        IEnumerable<(string NodeId, MemberRecord Record, long Version)> joined
    )
    {
        var self = identity();
        using var next = ClusterAuthority.OpenKey(
            self.ClusterId,
            rotation.Load(),
            rotation.Keys[self.NodeId],
            self.Key
        );
        return new Dictionary<string, byte[]>(rotation.Keys.Concat(SealFor(next, joined)), StringComparer.Ordinal);
    }

    private static Dictionary<string, byte[]> SealFor(
        ClusterAuthority authority,
        IEnumerable<(string NodeId, MemberRecord Record, long Version)> members
    ) =>
        members.ToDictionary(
            static member => member.NodeId,
            member => authority.SealKeyFor(PublicKey.CreateFromSubjectPublicKeyInfo(member.Record.PublicKey, out _)),
            StringComparer.Ordinal
        );

    private static Rejection NoLeaderKnown =>
        new(RejectionKind.NoLeader, "No node leads now. Nothing was changed; try again when a leader is elected.");

    private static Rejection Conflict(string sentence) => new(RejectionKind.ConcurrencyConflict, sentence);

    private static RecordChange StoreChange(RotationRecord rotation, long version) =>
        new(RotationRecord.Key, rotation.ToJson(), version);
}
