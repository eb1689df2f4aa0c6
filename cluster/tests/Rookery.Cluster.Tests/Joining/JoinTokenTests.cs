using System.Buffers.Binary;
using System.Buffers.Text;
using System.Text;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>The tokens with which nodes join: their text, and the records that the cluster keeps of them.</summary>
public sealed class JoinTokenTests
{
    [Fact]
    public async Task A_token_is_read_as_it_was_written()
    {
        using var cluster = new TestCluster();
        var token = await cluster.CreateTokenAsync();
        Assert.StartsWith("rookery-join-1.", token.ToText(), StringComparison.Ordinal);
        Assert.True(JoinToken.TryParse($"  {token.ToText()}\n", out var read));
        Assert.Equal((token.ClusterId, "127.0.0.1:9080"), (read.ClusterId, Assert.Single(read.Addresses)));
        Assert.Equal(token.Secret, read.Secret);
        Assert.Equal(token.Pin, read.Pin);
    }

    [Fact]
    public async Task A_garbled_token_is_rejected()
    {
        using var cluster = new TestCluster();
        string text = (await cluster.CreateTokenAsync()).ToText();
        Assert.All(
            [
                "",
                "hello",
                "rookery-join-1.",
                "rookery-join-1.AAAA",
                "rookery-join-2." + text["rookery-join-1.".Length..],
                text[..^1],
                text + "A",
            ],
            damaged => Assert.False(JoinToken.TryParse(damaged, out _), damaged)
        );
        for (int i = 0; i < text.Length; i++)
        {
            var garbled = new StringBuilder(text);
            garbled[i] = garbled[i] == 'x' ? 'y' : 'x';
            Assert.False(JoinToken.TryParse(garbled.ToString(), out _), $"character {i}");
        }
    }

    [Fact]
    public async Task A_token_with_too_many_addresses_is_refused()
    {
        using var cluster = new TestCluster();
        var token = await cluster.CreateTokenAsync();
        string[] addresses = [.. Enumerable.Repeat("pi-1.local:9443", JoinToken.MaxAddresses + 1)];
        Assert.False(JoinToken.TryParse((token with { Addresses = addresses }).ToText(), out _));
        Assert.True(JoinToken.TryParse((token with { Addresses = addresses[1..] }).ToText(), out _));
    }

    /// <summary>A token stores the length of an address in one byte.</summary>
    [Fact]
    public void An_address_that_does_not_fit_a_token_is_invalid()
    {
        Assert.True(MemberAddress.IsValid("[fe80::1%2]:9443"));
        Assert.False(MemberAddress.IsValid($"[fe80::1%{new string('0', 300)}2]:9443"));
    }

    [Fact]
    public async Task A_token_with_bytes_after_its_addresses_is_refused()
    {
        using var cluster = new TestCluster();
        string text = (await cluster.CreateTokenAsync()).ToText();
        byte[] bytes = Base64Url.DecodeFromChars(text.AsSpan("rookery-join-1.".Length));
        // One more byte before the checksum, which is correct.
        byte[] longer = [.. bytes.AsSpan(0, bytes.Length - sizeof(uint)), 0, .. new byte[sizeof(uint)]];
        uint checksum = Checksum.Of(longer.AsSpan(0, longer.Length - sizeof(uint)));
        BinaryPrimitives.WriteUInt32LittleEndian(longer.AsSpan(longer.Length - sizeof(uint)), checksum);
        Assert.False(JoinToken.TryParse("rookery-join-1." + Base64Url.EncodeToString(longer), out _));
    }

    [Fact]
    public async Task The_cluster_stores_and_logs_no_secret()
    {
        using var cluster = new TestCluster();
        var token = await cluster.CreateTokenAsync();
        var record = Assert.Single(cluster.RecordStore.List("token/"));
        Assert.DoesNotContain(Convert.ToHexStringLower(token.Secret), record.Key, StringComparison.Ordinal);
        Assert.DoesNotContain(
            Convert.ToBase64String(token.Secret),
            Encoding.UTF8.GetString(record.Value.Span),
            StringComparison.Ordinal
        );
        Assert.Equal($"token for cluster {token.ClusterId}", token.ToString());
    }

    [Fact]
    public async Task While_the_time_is_in_doubt_no_token_is_issued_and_no_record_deleted()
    {
        using var cluster = new TestCluster();
        await cluster.CreateTokenAsync();
        cluster.RecordStore.Clock = static () => new(TestAuthority.Now.AddYears(1).UtcTicks, IsSure: false);
        var (token, _, refusal) = await cluster.Tokens.CreateAsync(JoinTokens.DefaultLife, CancellationToken.None);
        Assert.Null(token);
        Assert.Contains("`rookery cluster clock confirm`", refusal, StringComparison.Ordinal);
        Assert.Single(cluster.RecordStore.List("token/"));
    }

    /// <summary>A token's record is kept for 30 days after the token's end.</summary>
    [Fact]
    public async Task The_records_of_tokens_that_expired_long_ago_are_deleted()
    {
        using var cluster = new TestCluster();
        await cluster.CreateTokenAsync();
        cluster.Time.Advance(TimeSpan.FromDays(20));
        await cluster.CreateTokenAsync();
        Assert.Equal(2, cluster.RecordStore.List("token/").Count);
        // The first token is 40 days old, so its record is deleted. The record of the second is kept.
        cluster.Time.Advance(TimeSpan.FromDays(20));
        await cluster.CreateTokenAsync();
        Assert.Equal(2, cluster.RecordStore.List("token/").Count);
    }
}
