using System.Runtime.Versioning;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Tests.Joining;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

/// <summary>The files of a node's identity in its data directory.</summary>
public sealed class IdentityDirectoryTests : IDisposable
{
    private const string Data = "/data";

    private readonly ClusterAuthority _authority = Create();
    private readonly NodeIdentity _identity;
    private readonly SimulatedDisk _disk = new(Data);

    public IdentityDirectoryTests() => _identity = CreateIdentity(_authority);

    public void Dispose()
    {
        _identity.Dispose();
        _authority.Dispose();
    }

    [Fact]
    public void An_identity_is_read_back_as_it_was_written()
    {
        Assert.Null(IdentityDirectory.TryLoad(_disk, Data));
        IdentityDirectory.Create(_disk, Data, _identity);
        using var loaded = IdentityDirectory.TryLoad(_disk, Data)!;
        Assert.Equal(
            (ClusterId, "home", NodeId, "pi-1", "A"),
            (loaded.ClusterId, loaded.ClusterName, loaded.NodeId, loaded.NodeName, loaded.Tag)
        );
        Assert.Equal(_identity.Certificate.RawData, loaded.Certificate.RawData);
        Assert.Equal(_authority.Certificate.RawData, Assert.Single(loaded.Authorities).RawData);
        var peer = Assert.Single(loaded.Peers);
        Assert.Equal(("other", "pi-2.local:9080 [fe80::1]:9080"), (peer.NodeId, string.Join(' ', peer.Addresses)));
        using var opened = loaded.OpenAuthority();
        Assert.Equal(_authority.Fingerprint, opened.Fingerprint);
        using var withKey = loaded.CertificateWithKey();
        Assert.True(withKey.HasPrivateKey);
    }

    [Fact]
    public void A_power_cut_while_an_identity_is_created_leaves_all_of_it_or_nothing()
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        for (int operation = 0; operation <= _disk.OperationCount; operation++)
        {
            // The seed selects which unsynced writes survive.
            for (long seed = 0; seed < 4; seed++)
            {
                var after = _disk.CrashAt(operation, seed);
                using var loaded = IdentityDirectory.TryLoad(after, Data);
                Assert.True(
                    loaded is not null || operation < _disk.OperationCount,
                    $"operation {operation}, seed {seed}"
                );
                if (loaded is null)
                {
                    IdentityDirectory.Create(after, Data, _identity);
                    IdentityDirectory.TryLoad(after, Data)!.Dispose();
                }
            }
        }
    }

    [Fact]
    public void A_power_cut_while_an_identity_is_updated_leaves_a_trusted_certificate()
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        int operationsBefore = _disk.OperationCount;
        using var next = Create();
        using var renewed = new NodeIdentity
        {
            ClusterId = ClusterId,
            ClusterName = "home",
            NodeId = NodeId,
            NodeName = "pi-1",
            Tag = "A",
            Key = _identity.Key,
            Certificate = next.SignNode(PublicKeyOf(_identity.Key), NodeId, Names(), Now),
            Authorities = [next.Certificate, _authority.Certificate],
            SealedAuthorityKey = next.SealKeyFor(PublicKeyOf(_identity.Key)),
        };
        IdentityDirectory.Update(_disk, Data, renewed);
        for (int operation = operationsBefore; operation <= _disk.OperationCount; operation++)
        {
            for (long seed = 0; seed < 4; seed++)
            {
                using var loaded = IdentityDirectory.TryLoad(_disk.CrashAt(operation, seed), Data)!;
                Assert.Null(loaded.WhyInconsistent());
                Assert.True(
                    operation < _disk.OperationCount || loaded.Peers.Count == 0,
                    $"operation {operation}, seed {seed}"
                );
            }
        }
    }

    /// <summary>
    /// A copied disk, and a node that found a rule broken, must stay out of the cluster after any number of starts, so
    /// the note must survive power cuts.
    /// </summary>
    [Theory]
    [InlineData(RetirementCause.Excluded)]
    [InlineData(RetirementCause.Halted)]
    public void A_retirement_note_is_written_completely_or_not_at_all(RetirementCause cause)
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        var retirement = new Retirement(cause, "There are two copies.");
        Assert.Null(IdentityDirectory.ReadRetirement(_disk, Data));
        int operationsBefore = _disk.OperationCount;
        IdentityDirectory.Retire(_disk, Data, retirement);
        for (int operation = operationsBefore; operation <= _disk.OperationCount; operation++)
        {
            for (long seed = 0; seed < 4; seed++)
            {
                var noted = IdentityDirectory.ReadRetirement(_disk.CrashAt(operation, seed), Data);
                Assert.True(
                    noted == retirement || (noted is null && operation < _disk.OperationCount),
                    $"operation {operation}, seed {seed}"
                );
            }
        }
    }

    [Theory]
    [InlineData("cluster")]
    [InlineData("node.key")]
    [InlineData("node.pem")]
    [InlineData("authority.pem")]
    [InlineData("authority.key")]
    public void A_missing_file_of_an_identity_is_reported_by_name(string name)
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        _disk.Delete($"/data/cluster/{name}");
        var refused = Assert.Throws<IdentityException>(() => IdentityDirectory.TryLoad(_disk, Data));
        Assert.StartsWith(
            $"/data/cluster/{name} is missing, and without it this node cannot show who it is. Put the "
                + $"directory back from a copy",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("cluster")]
    [InlineData("node.key")]
    [InlineData("node.pem")]
    [InlineData("authority.pem")]
    [InlineData("authority.key")]
    public void A_damaged_byte_in_any_file_is_detected(string name)
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        string path = $"/data/cluster/{name}";
        int length = _disk.ReadAll(path).Length;
        for (int offset = 0; offset < length; offset++)
        {
            _disk.Rot(path, offset, mask: 0x11);
            Assert.StartsWith(
                path + " is damaged",
                Assert.Throws<IdentityException>(() => IdentityDirectory.TryLoad(_disk, Data)).Message,
                StringComparison.Ordinal
            );
            _disk.Rot(path, offset, mask: 0x11);
        }

        using (var file = _disk.Open(path, DiskOpen.ReadWrite))
        {
            file.SetLength(0);
        }

        Assert.StartsWith(
            path + " is empty. Put the directory back",
            Assert.Throws<IdentityException>(() => IdentityDirectory.TryLoad(_disk, Data)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void Identity_and_data_of_different_nodes_are_refused()
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        TestFormat.Write(_disk, Data, new NodeIds("someoneelse", ClusterId));
        var refused = Assert.Throws<IdentityException>(() => IdentityDirectory.TryLoad(_disk, Data));
        Assert.Contains(
            $"It is that of node {NodeId} of cluster {ClusterId}, and the data beside it are those of node someoneelse",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void An_identity_beside_data_of_unknown_ownership_is_refused()
    {
        IdentityDirectory.Create(_disk, Data, _identity);
        TestFormat.Write(_disk, Data, new NodeIds(NodeId, ClusterId));
        _disk.Rot("/data/format", offset: 3, mask: 1);
        string message = Assert.Throws<IdentityException>(() => IdentityDirectory.TryLoad(_disk, Data)).Message;
        Assert.Contains("the ids of the data beside it cannot be read: ", message, StringComparison.Ordinal);
        Assert.DoesNotContain("Put the directory back", message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_key_of_another_node_is_refused()
    {
        using var other = CreateIdentity(_authority);
        using var mixed = new NodeIdentity
        {
            ClusterId = ClusterId,
            ClusterName = "home",
            NodeId = NodeId,
            NodeName = "pi-1",
            Tag = "A",
            Key = other.Key,
            Certificate = _identity.Certificate,
            Authorities = _identity.Authorities,
            SealedAuthorityKey = [],
        };
        Assert.Equal("The certificate was not made for the key beside it.", mixed.WhyInconsistent());
    }

    [Fact]
    [UnsupportedOSPlatform("windows")]
    public void Only_the_owner_can_read_keys_on_a_real_disk()
    {
        string data = Directory.CreateTempSubdirectory("rookery-identity-").FullName;
        try
        {
            IdentityDirectory.Create(new PosixDisk(), data, _identity);
            foreach (string name in new[] { "node.key", "authority.key" })
            {
                Assert.Equal(
                    UnixFileMode.UserRead | UnixFileMode.UserWrite,
                    File.GetUnixFileMode(Path.Join(data, "cluster", name))
                );
            }
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }
    }
}
