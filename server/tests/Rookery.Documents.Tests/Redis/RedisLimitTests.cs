using System.Buffers;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Documents.Redis.Running;
using Rookery.Platform;

namespace Rookery.Documents.Tests.Redis;

/// <summary>
/// Arguments at the limits of numbers, sizes and levels. Apply runs on every member, so an exception in it would stop
/// the cluster.
/// </summary>
public sealed class RedisLimitTests : IDisposable
{
    private readonly RedisNode _node = new();

    public void Dispose() => _node.Dispose();

    [Theory]
    [InlineData("SETRANGE a 9223372036854775807 xx", "ERR string exceeds maximum allowed size (proto-max-bulk-len)")]
    [InlineData("SETRANGE a 2147483647 x", "ERR string exceeds maximum allowed size (proto-max-bulk-len)")]
    [InlineData("SETRANGE a 9223372036854775807 ", "0")]
    [InlineData("LRANGE l -9223372036854775808 9223372036854775807", "[]")]
    [InlineData("LTRIM l 9223372036854775807 -9223372036854775808", "OK")]
    [InlineData("LREM l -9223372036854775808 x", "0")]
    [InlineData("LINDEX l -9223372036854775808", "null")]
    [InlineData("SPOP s 9223372036854775807", "<>")]
    [InlineData("LPOP l 9223372036854775807", "null")]
    [InlineData("GETRANGE a -9223372036854775808 9223372036854775807", "\"\"")]
    [InlineData("EXPIRE a -9223372036854775808", "ERR invalid expire time in 'expire' command")]
    [InlineData("PEXPIREAT a -9223372036854775808", "0")]
    [InlineData("DECRBY a -9223372036854775808", "ERR decrement would overflow")]
    [InlineData("INCRBYFLOAT a 1e4933", "ERR value is not a valid float")]
    [InlineData("INCRBYFLOAT a 1e-99999999999999999999", "ERR value is not a valid float")]
    [InlineData("INCRBYFLOAT a 0e99999999999999999999", "\"0\"")]
    [InlineData("HRANDFIELD h -1048577", "ERR value is out of range")]
    [InlineData("SRANDMEMBER s 9223372036854775807", "[]")]
    [InlineData("LPOS l a RANK 9223372036854775807 COUNT 9223372036854775807 MAXLEN 9223372036854775807", "[]")]
    [InlineData(
        "LPOS l a RANK -9223372036854775808",
        "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
    )]
    [InlineData("JSON.GET j $[-9223372036854775808]", "null")]
    public void Numbers_at_their_limits_have_a_reply(string line, string reply)
    {
        Assert.Equal([reply], _node.RunInLog(line));
        _node.Reopen();
    }

    [Fact]
    public void A_command_that_lacks_its_key_has_a_reply()
    {
        Assert.StartsWith("ERR OBJECT HELP is not served", _node.RunInLog("OBJECT HELP")[0], StringComparison.Ordinal);
        Assert.StartsWith("ERR OBJECT HELP is not served", _node.Run("OBJECT HELP"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_path_of_JSON_adds_no_level_beyond_the_limit()
    {
        Assert.Equal("OK", _node.Run("JSON.SET j $ " + Nested(126)));
        Assert.StartsWith("ERR", _node.Run("JSON.SET j $ " + Nested(127)), StringComparison.Ordinal);
        string objects = string.Concat(Enumerable.Repeat("{\"a\":", 100)) + "{}" + new string('}', 100);
        string path = "$" + string.Concat(Enumerable.Repeat(".a", 101));
        Assert.Equal("OK", _node.Run($"JSON.SET j $ {objects}"));
        Assert.Equal("OK", _node.Run($"JSON.SET j {path} {Nested(25)}"));
        Assert.StartsWith("ERR", _node.Run($"JSON.SET j {path} {Nested(26)}"), StringComparison.Ordinal);
        Assert.StartsWith("ERR", _node.Run($"JSON.SET j {path} {Nested(126)}"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_path_that_is_no_UTF8_is_refused()
    {
        Assert.Equal("OK", _node.Run("JSON.SET j $ {}"));
        string reply = _node.Run(
            "JSON.SET"u8.ToArray(),
            "j"u8.ToArray(),
            [(byte)'$', (byte)'.', 0xFF],
            "1"u8.ToArray()
        );
        Assert.StartsWith("ERR path", reply, StringComparison.Ordinal);
        Assert.Equal("\"{}\"", _node.Run("JSON.GET j"));
    }

    [Theory]
    [InlineData("HRANDFIELD h -1000000 WITHVALUES")]
    [InlineData("HMGET h # f")]
    [InlineData("MGET # a")]
    [InlineData("JSON.GET h # $.f")]
    [InlineData("JSON.GET h # $.none")]
    [InlineData("EXISTS # a")]
    [InlineData("SINTER # s")]
    public void A_short_command_cannot_cost_much(string line)
    {
        _node.Run("SADD s " + string.Join(' ', Enumerable.Range(0, 1000)));
        _node.Run("HSET h f " + new string('x', 1 << 20));
        _node.Run("SET a " + new string('x', 1 << 20));
        string word = line.Split(' ')[^1];
        line = line.Replace("#", string.Join(' ', Enumerable.Repeat(word, 100_000)), StringComparison.Ordinal);
        var before = _node.Node.Documents("redis");
        long outcome = _node.Node.Core.Applier.OutcomeHash;
        var refused = _node.Propose([], [Words("SET b 1"), Words("INCR c"), Words(line), Words("SET d 1")]);
        Assert.Equal(RejectionKind.TooLarge, refused.Rejection?.Kind);
        Assert.Equal(before, _node.Node.Documents("redis"));
        Assert.NotEqual(outcome, _node.Node.Core.Applier.OutcomeHash);

        Assert.Equal(["OK", "1"], _node.RunInLog("SET b 1", "INCR c"));
        var after = _node.Node.Documents("redis");
        outcome = _node.Node.Core.Applier.OutcomeHash;
        _node.Reopen();
        Assert.Equal(after, _node.Node.Documents("redis"));
        Assert.Equal(outcome, _node.Node.Core.Applier.OutcomeHash);
    }

    [Fact]
    public void A_refused_HRANDFIELD_leaves_no_members_to_the_next()
    {
        _node.Run("HSET h f " + new string('x', 1 << 20));
        _node.Run("HSET other g 1");
        Assert.Equal(
            RejectionKind.TooLarge,
            _node.Propose([], [Words("HRANDFIELD h -1000000 WITHVALUES")]).Rejection?.Kind
        );
        Assert.Equal(["[\"g\"]"], _node.RunInLog("HRANDFIELD other 5"));

        Assert.True(RedisCommandTable.TryFind("hrandfield"u8, out var command));
        Assert.Throws<RedisLimitException>(() => _node.Read(command, Words("HRANDFIELD h -1000000 WITHVALUES")));
        Assert.Equal("[\"g\"]", _node.Run("HRANDFIELD other 5"));
    }

    [Fact]
    public void A_read_replies_at_most_what_fits_into_memory()
    {
        _node.Run("SET a " + new string('x', 1 << 20));
        Assert.True(RedisCommandTable.TryFind("mget"u8, out var command));
        Assert.Throws<RedisLimitException>(() =>
            _node.Read(command, Words("MGET " + string.Join(' ', Enumerable.Repeat("a", 40))))
        );
        Assert.Equal("\"x\"", _node.Run("GETRANGE a 0 0"));
    }

    [Theory]
    [InlineData("JSON.GET h # $.none")]
    [InlineData("JSON.MGET # h $.none")]
    [InlineData("EXISTS # a")]
    [InlineData("SDIFF # s")]
    public void A_short_command_that_reads_cannot_cost_much(string line)
    {
        _node.Run("SADD s " + string.Join(' ', Enumerable.Range(0, 2000)));
        _node.Run("HSET h f " + new string('x', 1 << 20));
        _node.Run("SET a " + new string('x', 1 << 20));
        string[] words = line.Split(' ');
        string word = words[Array.IndexOf(words, "#") + 1];
        line = line.Replace("#", string.Join(' ', Enumerable.Repeat(word, 20_000)), StringComparison.Ordinal);
        Assert.True(RedisCommandTable.TryFind(Encoding.UTF8.GetBytes(words[0]), out var command));
        Assert.Throws<RedisLimitException>(() => _node.Read(command, Words(line)));
    }

    [Theory]
    [InlineData("EXISTS a b")]
    [InlineData("RANDOMKEY")]
    public void A_command_that_reads_ends_when_its_client_leaves(string line)
    {
        _node.Run("SET a 1");
        Assert.True(RedisCommandTable.TryFind(Words(line)[0], out var command));
        using var reader = _node.Database.OpenReader();
        var time = _node.Node.Consensus.Time;
        Assert.Throws<OperationCanceledException>(() =>
            RedisNode.WithArguments(
                Words(line),
                arguments =>
                    RedisReader.Execute(
                        reader,
                        time,
                        command,
                        arguments,
                        new ArrayBufferWriter<byte>(),
                        new CancellationToken(canceled: true)
                    )
            )
        );
    }

    /// <summary>Each thread that has carried out a command keeps an interpreter.</summary>
    [Trait("Effort", "Whole")]
    [Fact]
    public void Interpreters_keep_no_memory_of_large_documents()
    {
        const int Interpreters = 40;
        const int Bytes = 4 << 20;
        _node.Run($"JSON.SET j $ {{\"a\":\"{new string('x', Bytes)}\"}}");
        using var reader = _node.Database.OpenReader();
        var store = new SnapshotStore();
        store.Begin(reader, _node.Node.Consensus.Time.UtcTicks, CancellationToken.None);
        var interpreters = new List<RedisInterpreter>();
        long before = LargeBuffers.UsedBytes;
        while (interpreters.Count < Interpreters)
        {
            var interpreter = new RedisInterpreter();
            interpreters.Add(interpreter);
            interpreter.Session.Reply.SetLimit(RedisReader.MaxReplyBytes, RedisReader.MaxReplyBytes);
            RedisNode.WithArguments(
                Words("JSON.GET j"),
                arguments => interpreter.Run(store, RedisOpcode.JsonGet, arguments, new ArrayBufferWriter<byte>())
            );
        }

        // Other tests use memory too, but not as much.
        Assert.InRange(LargeBuffers.UsedBytes - before, long.MinValue, Interpreters * (long)Bytes);
        interpreters.ForEach(static interpreter => interpreter.Dispose());
    }

    [Fact]
    public void A_pattern_cannot_take_much_time_on_many_short_fields()
    {
        string fields = string.Join(' ', Enumerable.Range(0, 40_000).Select(static i => $"{i:D8} 1"));
        _node.Run("HSET h " + fields);
        string pattern = $"[{new string('x', 498)}]";
        Assert.Equal(RejectionKind.TooLarge, _node.Propose([], [Words("HSCAN h 0 MATCH " + pattern)]).Rejection?.Kind);
        Assert.Equal(["[\"0\" []]"], _node.RunInLog("HSCAN h 0 MATCH user:*"));
    }

    [Fact]
    public void A_pattern_cannot_take_much_time()
    {
        _node.Run($"HSET h {new string('a', 1 << 20)} 1");
        string pattern = string.Concat(Enumerable.Repeat("*a", 1000)) + "b";
        Assert.Equal(RejectionKind.TooLarge, _node.Propose([], [Words("HSCAN h 0 MATCH " + pattern)]).Rejection?.Kind);
        Assert.Equal(["[\"0\" []]"], _node.RunInLog("HSCAN h 0 MATCH user:*"));
    }

    [Fact]
    public void Documents_stay_keys_while_expiration_is_disabled()
    {
        _node.Run("SET a 1 PX 1");
        _node.Run("SET b 1 PX 1");
        _node.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("null", _node.Run("GET a"));
        var json = """{"Disabled":true,"DeleteFrequencyInSec":null,"MaxItemsToProcess":null}"""u8;
        _node.Node.Run(CommandEncoder.SetConfiguration(_node.Database.Number, ConfigurationName.Expiration, json));
        Assert.Equal("\"1\"", _node.Run("GET a"));
        Assert.Equal("0", _node.Run("PTTL a"));
        Assert.Equal(["2", "\"2\""], _node.RunInLog("INCR a", "GET a"));
        Assert.Equal("[\"a\" \"b\"]", _node.Run("KEYS *"));
    }

    [Fact]
    public void RENAME_replaces_an_expired_key()
    {
        _node.Run("SET a 1");
        _node.Run("SET b old PX 1");
        _node.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(["1", "\"1\"", "0", "-1"], _node.RunInLog("RENAMENX a b", "GET b", "EXISTS a", "TTL b"));
    }

    private static string Nested(int levels) => new string('[', levels) + new string(']', levels);

    private static byte[][] Words(string line) =>
        [.. line.Split(' ').Select(static word => Encoding.UTF8.GetBytes(word))];
}
