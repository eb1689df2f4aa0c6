using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Documents.Tests.Redis;

/// <summary>Each line is a command and its reply, as Redis 7.0 answers it.</summary>
public sealed class RedisCommandTests : IDisposable
{
    private readonly RedisNode _node = new();

    public void Dispose() => _node.Dispose();

    [Theory]
    [InlineData(
        "SET a 1 | OK ; GET a | \"1\" ; GET b | null ; STRLEN a | 1 ; SET a 2 NX | null ; " + "SET a 2 XX GET | \"1\""
    )]
    [InlineData("SET a x GET | null ; SET a y NX GET | \"x\" ; GET a | \"x\" ; SET b 1 XX | null ; EXISTS b a a | 2")]
    [InlineData("SET a x EX 0 | ERR invalid expire time in 'set' command ; SET a x EX | ERR syntax error")]
    [InlineData("SET a x EX y | ERR value is not an integer or out of range ; SET a x NX XX | ERR syntax error")]
    [InlineData(
        "SET a x EX 10 | OK ; TTL a | 10 ; PTTL a | 10000 ; SET a y KEEPTTL | OK ; TTL a | 10 ; "
            + "PERSIST a | 1 ; TTL a | -1"
    )]
    [InlineData("SETNX a 1 | 1 ; SETNX a 2 | 0 ; GETSET a 3 | \"1\" ; GETDEL a | \"3\" ; GETDEL a | null")]
    [InlineData(
        "SETEX a 5 x | OK ; TTL a | 5 ; PSETEX a 1500 y | OK ; PTTL a | 1500 ; TTL a | 2 ; "
            + "GETEX a PERSIST | \"y\" ; TTL a | -1"
    )]
    [InlineData(
        "MSET a 1 b 2 a 3 | OK ; MGET a b c | [\"3\" \"2\" null] ; MSETNX c 1 a 2 | 0 ; "
            + "MSETNX c 1 d 2 | 1 ; MSET a | ERR wrong number of arguments for 'mset' command"
    )]
    [InlineData(
        "APPEND a Hello | 5 ; APPEND a World | 10 ; GETRANGE a 0 4 | \"Hello\" ; "
            + "GETRANGE a -5 -1 | \"World\" ; SUBSTR a 8 99 | \"ld\" ; SETRANGE a 5 wORLD | 10 ; "
            + "GET a | \"HellowORLD\""
    )]
    [InlineData(
        "INCR a | 1 ; INCRBY a 10 | 11 ; DECR a | 10 ; DECRBY a 3 | 7 ; SET a x | OK ; "
            + "INCR a | ERR value is not an integer or out of range"
    )]
    [InlineData(
        "SET a 9223372036854775807 | OK ; INCR a | ERR increment or decrement would overflow ; "
            + "INCRBYFLOAT b 10.5 | \"10.5\" ; INCRBYFLOAT b 0.1 | \"10.6\" ; "
            + "INCRBYFLOAT b -5e3 | \"-4989.39999999999999991\""
    )]
    [InlineData(
        "INCRBYFLOAT a 0x10 | \"16\" ; INCRBYFLOAT a -0X1.8p+1 | \"13\" ; INCRBYFLOAT a +0x1P-2 | \"13.25\" ; "
            + "INCRBYFLOAT a 0x1.8p-16446 | \"13.25\" ; HINCRBYFLOAT h f 0x1e5 | \"485\" ; HSET h g 0x.8 | 1 ; "
            + "HINCRBYFLOAT h g 0x0p99999 | \"0.5\" ; INCRBYFLOAT b 0x7fffffffffffffffff | \"2361183241434822606848\""
    )]
    [InlineData(
        "SET a 1 | OK ; RENAME a b | OK ; EXISTS a | 0 ; GET b | \"1\" ; "
            + "RENAME a b | ERR no such key ; RENAMENX b b | 0 ; RENAMENX b c | 1 ; TYPE c | string ; "
            + "TYPE b | none"
    )]
    [InlineData(
        "SET a 1 | OK ; EXPIRE a 100 XX | 0 ; EXPIRE a 100 NX | 1 ; EXPIRE a 50 GT | 0 ; "
            + "EXPIRE a 50 LT | 1 ; TTL a | 50 ; EXPIRE a -1 | 1 ; EXISTS a | 0 ; "
            + "EXPIRE a 1 NX GT | ERR NX and XX, GT or LT options at the same time are not compatible"
    )]
    [InlineData(
        "SET a 12 | OK ; OBJECT ENCODING a | \"int\" ; SET a x | OK ; "
            + "OBJECT ENCODING a | \"embstr\" ; OBJECT ENCODING b | null ; TOUCH a b | 1 ; "
            + "UNLINK a b | 1 ; DBSIZE | 0"
    )]
    [InlineData(
        "SET user:1 x | OK ; SET user:2 x | OK ; SET Z x | OK ; "
            + "SCAN 0 MATCH user:* | [\"0\" [\"user:1\" \"user:2\"]] ; KEYS [Z-] | [\"Z\"] ; "
            + "SCAN x | ERR invalid cursor ; SCAN 0 TYPE hash | [\"0\" []]"
    )]
    [InlineData(
        "SET a 1 | OK ; PEXPIREAT a 1767225600500 | 1 ; PEXPIRETIME a | 1767225600500 ; "
            + "EXPIRETIME a | 1767225601 ; EXPIREAT a 1 | 1 ; EXISTS a | 0 ; TTL a | -2"
    )]
    [InlineData(
        "HSET h a 1 b 2 a 3 | 2 ; HGETALL h | {\"a\" \"3\" \"b\" \"2\"} ; HGET h a | \"3\" ; "
            + "HGET h c | null ; HMGET h b c a | [\"2\" null \"3\"] ; HLEN h | 2 ; "
            + "HKEYS h | [\"a\" \"b\"] ; HVALS h | [\"3\" \"2\"]"
    )]
    [InlineData(
        "HSETNX h a 1 | 1 ; HSETNX h a 2 | 0 ; HMSET h b 2 | OK ; HDEL h a x | 1 ; HEXISTS h a | 0 ; "
            + "HSTRLEN h b | 1 ; HDEL h b | 1 ; EXISTS h | 0 ; "
            + "HSET h a | ERR wrong number of arguments for 'hset' command"
    )]
    [InlineData(
        "HINCRBY h n 5 | 5 ; HINCRBY h n -7 | -2 ; HINCRBYFLOAT h n 0.5 | \"-1.5\" ; "
            + "HINCRBY h n 1 | ERR hash value is not an integer ; HSCAN h 0 | [\"0\" [\"n\" \"-1.5\"]] ; "
            + "HRANDFIELD h | \"n\" ; HRANDFIELD h 5 WITHVALUES | [[\"n\" \"-1.5\"]] ; TYPE h | hash"
    )]
    [InlineData(
        "SADD s a b a c | 3 ; SADD s a | 0 ; SMEMBERS s | <\"a\" \"b\" \"c\"> ; SISMEMBER s b | 1 ; "
            + "SMISMEMBER s x a | [0 1] ; SCARD s | 3 ; SREM s a x b | 2 ; SPOP s | \"c\" ; "
            + "SPOP s | null ; EXISTS s | 0 ; SSCAN s 0 | [\"0\" []]"
    )]
    [InlineData(
        "RPUSH l a b c | 3 ; LPUSH l x y | 5 ; LRANGE l 0 -1 | [\"y\" \"x\" \"a\" \"b\" \"c\"] ; "
            + "LPOP l | \"y\" ; RPOP l 2 | [\"c\" \"b\"] ; LLEN l | 2 ; LINDEX l -1 | \"a\" ; "
            + "LSET l 0 z | OK ; LRANGE l 0 0 | [\"z\"] ; LPUSHX m a | 0 ; LPOP m 2 | null"
    )]
    [InlineData(
        "RPUSH l a b c | 3 ; BLPOP k l 0 | [\"l\" \"a\"] ; BRPOP l k 0.5 | [\"l\" \"c\"] ; BLPOP l 0 | [\"l\" \"b\"] ; "
            + "EXISTS l | 0 ; BLPOP k l 0 | null ; BLPOP l x | ERR timeout is not a float or out of range ; "
            + "BRPOP l -1 | ERR timeout is negative ; SET s 1 | OK ; RPUSH l a | 1 ; BLPOP k s l 0 | WRONGTYPE"
    )]
    [InlineData(
        "RPUSH l a b | 2 ; LINSERT l BEFORE b x | 3 ; LINSERT l after b y | 4 ; LRANGE l 0 -1 | "
            + "[\"a\" \"x\" \"b\" \"y\"] ; LINSERT l BEFORE z x | -1 ; LINSERT k BEFORE z x | 0 ; "
            + "LINSERT l MIDDLE a x | ERR syntax error ; SET s 1 | OK ; LINSERT s BEFORE a x | WRONGTYPE"
    )]
    [InlineData(
        "RPUSH l a b c a a | 5 ; LPOS l a | 0 ; LPOS l a RANK -1 | 4 ; LPOS l a RANK 2 COUNT 0 | [3 4] ; "
            + "LPOS l a COUNT 2 RANK -1 | [4 3] ; LPOS l a RANK 2 MAXLEN 3 | null ; LPOS l z COUNT 1 | [] ; "
            + "LPOS k a | null ; LPOS l a COUNT -1 | ERR COUNT can't be negative ; LPOS l a RANK | ERR syntax error"
    )]
    [InlineData(
        "RPUSH l a b c | 3 ; LMOVE l m LEFT RIGHT | \"a\" ; RPOPLPUSH l m | \"c\" ; "
            + "LRANGE m 0 -1 | [\"c\" \"a\"] ; "
            + "LMOVE m m RIGHT LEFT | \"a\" ; LRANGE m 0 -1 | [\"a\" \"c\"] ; LMOVE l m LEFT LEFT | \"b\" ; "
            + "EXISTS l | 0 ; LMOVE l m LEFT LEFT | null ; LMOVE m l UP LEFT | ERR syntax error ; SET s 1 | OK ; "
            + "RPOPLPUSH m s | WRONGTYPE ; LRANGE m 0 -1 | [\"b\" \"a\" \"c\"]"
    )]
    [InlineData(
        "SADD s a b c | 3 ; SADD t b c d | 3 ; SINTER s t | <\"b\" \"c\"> ; "
            + "SUNION s t | <\"a\" \"b\" \"c\" \"d\"> ; "
            + "SDIFF s t | <\"a\"> ; SINTER s none t | <> ; SDIFF s none | <\"a\" \"b\" \"c\"> ; SET x 1 | OK ; "
            + "SUNION none x | WRONGTYPE ; SINTERSTORE x s t | 2 ; SMEMBERS x | <\"b\" \"c\"> ; "
            + "SDIFFSTORE x t t | 0 ; EXISTS x | 0 ; SUNIONSTORE s s t | 4 ; SCARD s | 4"
    )]
    [InlineData(
        "SADD s a b | 2 ; SMOVE s t a | 1 ; SMOVE s t a | 0 ; SMOVE s s b | 1 ; SMEMBERS t | <\"a\"> ; "
            + "SMOVE s t b | 1 ; EXISTS s | 0 ; SMOVE s t b | 0 ; SET x 1 | OK ; SMOVE t x a | WRONGTYPE ; "
            + "SMOVE none x a | 0 ; "
            + "SRANDMEMBER none | null ; SRANDMEMBER none 2 | [] ; SRANDMEMBER x | WRONGTYPE ; SADD u a | 1 ; "
            + "SRANDMEMBER u | \"a\" ; SRANDMEMBER u 9 | [\"a\"] ; SRANDMEMBER u -2 | [\"a\" \"a\"]"
    )]
    [InlineData(
        "SET a 1 EX 10 | OK ; COPY a b | 1 ; TTL b | 10 ; GET a | \"1\" ; COPY a b | 0 ; SET a 2 | OK ; "
            + "COPY a b REPLACE DB 0 | 1 ; GET b | \"2\" ; TTL b | -1 ; COPY c d | 0 ; "
            + "COPY a a | ERR source and destination objects are the same ; "
            + "COPY a c DB 3 | ERR DB index is out of range"
    )]
    [InlineData(
        "RPUSH l a b a c a | 5 ; LREM l -2 a | 2 ; LRANGE l 0 -1 | [\"a\" \"b\" \"c\"] ; "
            + "LTRIM l 1 -1 | OK ; LLEN l | 2 ; LTRIM l 5 9 | OK ; EXISTS l | 0 ; "
            + "LSET l 0 a | ERR no such key ; RPUSH l a | 1 ; LSET l 3 a | ERR index out of range"
    )]
    [InlineData(
        "SET a 1 | OK ; HGET a x | WRONGTYPE ; LPUSH a x | WRONGTYPE ; SADD a x | WRONGTYPE ; "
            + "HSET h a 1 | 1 ; GET h | WRONGTYPE ; INCR h | WRONGTYPE ; SET h 1 | OK ; GET h | \"1\""
    )]
    [InlineData(
        "JSON.SET j $ {\"a\":{\"b\":[1,2]},\"c\":1} | OK ; JSON.GET j $.a.b[1] | \"[2]\" ; "
            + "JSON.GET j .a.b | \"[1,2]\" ; JSON.NUMINCRBY j $.c 2 | \"[3]\" ; "
            + "JSON.NUMINCRBY j .c 0.5 | \"3.5\" ; JSON.TYPE j $.a | [\"object\"] ; "
            + "JSON.DEL j $.a.b[0] | 1 ; JSON.GET j | \"{\"a\":{\"b\":[2]},\"c\":3.5}\" ; "
            + "JSON.SET j $.d null NX | OK ; JSON.MGET j k $.d | [\"[null]\" null] ; TYPE j | ReJSON-RL ; "
            + "JSON.SET j $.x.y 1 | null ; JSON.SET k $.x 1 | ERR new objects must be created at the root"
    )]
    [InlineData(
        "JSON.SET j . [1,\"x\"] | OK ; JSON.GET j $ | \"[[1,\"x\"]]\" ; JSON.DEL j $[0] | 1 ; "
            + "JSON.GET j | \"[\"x\"]\" ; JSON.DEL j | 1 ; EXISTS j | 0 ; JSON.SET j $ {\"Json\":5} | OK ; "
            + "JSON.GET j | \"{\"Json\":5}\" ; JSON.SET j $ {\"@metadata\":{}} | OK ; "
            + "JSON.GET j | \"{\"@metadata\":{}}\""
    )]
    public void Replies_are_those_of_Redis(string lines)
    {
        foreach (string line in lines.Split(" ; "))
        {
            string[] parts = line.Split(" | ");
            string expected = string.Equals(parts[1], "WRONGTYPE", StringComparison.Ordinal)
                ? "WRONGTYPE Operation against a key holding the wrong kind of value"
                : parts[1];
            Assert.Equal($"{parts[0]} | {expected}", $"{parts[0]} | {_node.Run(parts[0])}");
        }

        _node.Reopen();
    }

    [Theory]
    [InlineData("0x")]
    [InlineData("0x.")]
    [InlineData("0x1p")]
    [InlineData("0x1p+")]
    [InlineData("0xg")]
    [InlineData("0x-1")]
    [InlineData("0x1p20000")]
    [InlineData("0x1p-16446")]
    public void Other_hexadecimal_texts_are_no_numbers(string text)
    {
        Assert.Equal("ERR value is not a valid float", _node.Run($"INCRBYFLOAT a {text}"));
        Assert.Equal("ERR value is not a valid float", _node.Run($"HINCRBYFLOAT h f {text}"));
    }

    [Fact]
    public void Values_are_documents_of_the_collection_of_Redis()
    {
        _node.Run("SET Light:Hall on");
        _node.Run(Bytes("SET"), Bytes("binary"), [0xFF, 0]);
        _node.Run("HSET h name Ann");
        _node.Run(Bytes("HSET"), Bytes("h"), [0xFE, (byte)'x'], [0xFF]);
        _node.Run("SADD s a");
        _node.Run("RPUSH l a b");
        _node.Run("JSON.SET j $ [1]");
        var documents = _node.Node.Documents("redis");
        Assert.Equal("\"Value\":\"on\"", documents["~Light:~Hall"]);
        Assert.Equal("\"Base64\":\"/wA=\"", documents["binary"]);
        Assert.Equal("\"name\":\"Ann\",\"~0fex\":{\"Base64\":\"/w==\"}", documents["h"]);
        Assert.Equal("\"Set\":[\"a\"]", documents["s"]);
        Assert.Equal("\"List\":[\"a\",\"b\"]", documents["l"]);
        Assert.Equal("\"Json\":[1]", documents["j"]);
        Assert.Equal("\"\u00FF\0\"", _node.Run("GET binary"));
        using var reader = _node.Database.OpenReader();
        Assert.True(reader.TryGetDocument("~light:~hall"u8, out var document));
        using (document)
        {
            Assert.Equal("@redis", Encoding.UTF8.GetString(document.View.Collection));
            Assert.Equal("\"@redis\":\"string\"", Encoding.UTF8.GetString(document.View.Metadata));
        }
    }

    [Fact]
    public void Documents_of_other_clients_are_values()
    {
        _node.Node.Put("redis", "Light:Hall", """{"Value":"on"}""");
        _node.Node.Put("redis", "users/1", """{"name":"Ann","age":5,"@metadata":{"@collection":"Users","mine":1}}""");
        _node.Node.Put("redis", "list", """{"List":["a",5,{"x":1}]}""");
        Assert.Equal("\"on\"", _node.Run("GET light:hall"));
        Assert.Equal("null", _node.Run("GET Light:Hall"));
        Assert.Equal("{\"name\" \"Ann\" \"age\" \"5\"}", _node.Run("HGETALL users/1"));
        Assert.Equal("[\"a\" \"5\" \"{\"x\":1}\"]", _node.Run("LRANGE list 0 -1"));
        Assert.Equal("6", _node.Run("HINCRBY users/1 age 1"));
        Assert.Equal("\"name\":\"Ann\",\"age\":6", _node.Node.Documents("redis")["users/1"]);
        Assert.Equal("\"[6]\"", _node.Run("JSON.GET users/1 $.age"));
        using var reader = _node.Database.OpenReader();
        Assert.True(reader.TryGetDocument("users/1"u8, out var document));
        using (document)
        {
            Assert.Equal("Users", Encoding.UTF8.GetString(document.View.Collection));
            Assert.Equal("\"@redis\":\"hash\",\"mine\":1", Encoding.UTF8.GetString(document.View.Metadata));
        }
    }

    [Fact]
    public void An_expired_key_is_absent_before_it_is_removed()
    {
        _node.Run("SET a 1 PX 1500");
        _node.Run("HSET h f 1");
        _node.Run("EXPIRE h 2");
        _node.Time.Advance(TimeSpan.FromMilliseconds(1499));
        Assert.Equal("\"1\"", _node.Run("GET a"));
        _node.Time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal("null", _node.Run("GET a"));
        Assert.Equal("0", _node.Run("EXISTS a"));
        Assert.Equal("1", _node.Run("SETNX a 2"));
        Assert.Equal("-1", _node.Run("TTL a"));
        _node.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("1", _node.Run("HSET h g 1"));
        Assert.Equal("{\"g\" \"1\"}", _node.Run("HGETALL h"));
    }

    [Fact]
    public void Commands_of_one_entry_see_each_other_and_errors_undo_nothing()
    {
        Assert.Equal(
            ["OK", "2", "ERR value is not an integer or out of range", "\"2\"", "1"],
            _node.RunInLog("SET a 1", "INCR a", "INCRBY a x", "GET a", "DEL a")
        );
    }

    [Fact]
    public void A_guard_that_does_not_hold_prevents_all_commands()
    {
        _node.Run("SET a 1");
        long version = _node.Version("a");
        long absent = _node.Version("b");
        Assert.Equal(["OK"], _node.RunGuarded([("a", version), ("b", absent)], "SET b 1"));
        Assert.Empty(_node.RunGuarded([("a", version), ("b", absent)], "SET c 1"));
        Assert.Equal("0", _node.Run("EXISTS c"));
        _node.Run("SET a 2");
        Assert.Empty(_node.RunGuarded([("a", version)], "SET c 1"));
    }

    [Fact]
    public void A_guard_of_an_absent_key_notices_that_it_was_created_and_deleted_again()
    {
        _node.RunInLog("SET other 1", "SET A 1", "DEL A");
        long absent = _node.Version("A");
        _node.RunInLog("SET B 1", "DEL B", "DEL other");
        Assert.Equal(["OK"], _node.RunGuarded([("A", absent)], "SET c 1"));
        _node.RunInLog("SET A 1", "DEL A");
        Assert.Empty(_node.RunGuarded([("A", absent)], "SET c 2"));
        Assert.Equal(["OK"], _node.RunGuarded([("A", _node.Version("A"))], "SET c 3"));
        _node.Reopen();
        Assert.Equal("\"3\"", _node.Run("GET c"));
    }

    [Fact]
    public void A_guard_of_an_absent_key_does_not_hold_when_its_history_is_not_known()
    {
        _node.Run("SET a 1");
        long absent = _node.Version("b");
        _node.RunInLog("SET c 1", "DEL c");
        _node.Node.Run(CommandEncoder.SetTombstoneHorizon(_node.Database.Number, _node.Database.LastEtag));
        Assert.Empty(_node.RunGuarded([("b", absent)], "SET b 1"));

        absent = _node.Version("b");
        _node.RunInLog([.. Enumerable.Range(0, 5000).SelectMany(static n => (string[])[$"SET k{n} 1", $"DEL k{n}"])]);
        Assert.Empty(_node.RunGuarded([("b", absent)], "SET b 1"));

        // Each guard would read thousands of tombstones: together more than a command may. The first one decides.
        Assert.Empty(_node.RunGuarded([.. Enumerable.Range(0, 300).Select(n => ($"m{n}", absent))], "SET b 1"));
    }

    [Fact]
    public void While_the_time_is_in_doubt_reads_and_writes_agree_which_keys_are_absent()
    {
        _node.RunInLog("SET a 1 PX 1000", "SET b 1 PX 60000");
        _node.Time.Advance(TimeSpan.FromSeconds(2));
        _node.Run("SET c 1"); // the log records the time
        Assert.Equal("null", _node.Run("GET a"));
        _node.IsClockSynchronised = false;
        _node.Time.SetUtcNow(_node.Time.GetUtcNow().AddDays(3));
        _node.Reopen();
        Assert.False(_node.Node.Consensus.Time.IsSure);
        Assert.Equal("null", _node.Run("GET a"));
        Assert.Equal("\"1\"", _node.Run("GET b"));
        Assert.Equal("[\"b\" \"c\"]", _node.Run("KEYS *"));
        Assert.Equal("1", _node.Run("SETNX a 2"));
        Assert.Equal("0", _node.Run("SETNX b 2"));
    }

    [Fact]
    public void Replies_that_are_too_long_refuse_all_commands()
    {
        _node.Run("SET a " + new string('x', 1 << 20));
        byte[][] get = [Bytes("GET"), Bytes("a")];
        var outcome = _node.Propose([], [.. Enumerable.Repeat(get, 17), [Bytes("SET"), Bytes("b"), Bytes("1")]]);
        Assert.Equal(RejectionKind.TooLarge, outcome.Rejection?.Kind);
        Assert.Equal("0", _node.Run("EXISTS b"));
    }

    [Fact]
    public void An_element_stays_where_it_is_if_the_other_list_or_set_would_be_too_long()
    {
        string half = new('x', 4 << 20);
        _node.Run("RPUSH l a " + half);
        _node.Run("RPUSH m " + half);
        _node.Run("SADD s a " + half);
        _node.Run("SADD t " + half + "y");
        const string TooLong = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
        Assert.Equal(TooLong, _node.Run("RPOPLPUSH l m"));
        Assert.Equal(TooLong, _node.Run("SMOVE s t " + half));
        Assert.Equal(TooLong, _node.Run("SUNIONSTORE u s t"));
        Assert.Equal("2", _node.Run("LLEN l"));
        Assert.Equal("1", _node.Run("LLEN m"));
        Assert.Equal("2", _node.Run("SCARD s"));
        Assert.Equal("0", _node.Run("EXISTS u"));
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
