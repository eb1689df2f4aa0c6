using System.Buffers;
using System.Text;
using Rookery.Platform;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Tests;

public sealed class RequestParserTests : IDisposable
{
    private const int MaxBytes = 1 << 20;

    private readonly MemoryBudget _budget = new(16 << 20);
    private readonly MemoryShare _share;
    private readonly RequestParser _parser;

    public RequestParserTests()
    {
        _share = _budget.AddShare("redis", 8 << 20);
        _parser = new RequestParser(new RequestLimits(MaxBytes), _share) { IsTrusted = true };
    }

    public void Dispose() => _parser.Dispose();

    [Fact]
    public void Commands_of_a_burst_are_found_one_after_the_other()
    {
        Append("*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING\r\n*1\r\n$4\r\nTIME\r\n");
        Assert.Equal(["GET a", "PING", "TIME"], ReadAll());
        Assert.Equal(RequestStatus.Incomplete, _parser.Read());
    }

    [Fact]
    public void Commands_are_found_at_any_cut_of_their_bytes()
    {
        const string Bytes =
            "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nb\r\nc\n\r\nping 'x y'\r\n\r\n*0\r\n*1\r\n$4\r\nTIME\r\n";
        for (int cut = 0; cut < Bytes.Length; cut++)
        {
            var found = new List<string>();
            Append(Bytes[..cut]);
            found.AddRange(ReadAll());
            _parser.Trim();
            Append(Bytes[cut..]);
            found.AddRange(ReadAll());
            Assert.Equal(["SET a b\r\nc\n", "ping x y", "TIME"], found);
            _parser.Trim();
        }
    }

    [Theory]
    [InlineData("*x\r\n", "invalid multibulk length")]
    [InlineData("*1048577\r\n", "invalid multibulk length")]
    [InlineData("*9223372036854775808\r\n", "invalid multibulk length")]
    [InlineData("*1\r\n:1\r\n", "expected '$', got ':'")]
    [InlineData("*1\r\n$-1\r\n", "invalid bulk length")]
    [InlineData("*1\r\n$536870913\r\n", "invalid bulk length")]
    [InlineData("*1\r\n$1\r\nabc", "expected CRLF after an argument")]
    [InlineData("get \"a\r\n", "unbalanced quotes in request")]
    [InlineData("get \"a\"b\r\n", "unbalanced quotes in request")]
    public void Bytes_of_another_protocol_are_refused_by_reason(string bytes, string problem)
    {
        Append(bytes);
        Assert.Equal(RequestStatus.Broken, _parser.Read());
        Assert.Equal(problem, _parser.Problem);
    }

    [Theory]
    [InlineData('a', "too big inline request")]
    [InlineData('*', "too big mbulk count string")]
    public void A_line_without_end_is_refused(char first, string problem)
    {
        Append(first + new string('1', RequestLimits.MaxLineBytes + 1));
        Assert.Equal(RequestStatus.Broken, _parser.Read());
        Assert.Equal(problem, _parser.Problem);
    }

    [Fact]
    public void A_client_that_is_not_known_sends_only_short_commands()
    {
        using var unknown = new RequestParser(new RequestLimits(MaxBytes), _share);
        unknown.Append(Sequence("*11\r\n"));
        Assert.Equal(RequestStatus.Broken, unknown.Read());
        Assert.Equal("unauthenticated multibulk length", unknown.Problem);
        using var other = new RequestParser(new RequestLimits(MaxBytes), _share);
        other.Append(Sequence("*1\r\n$16385\r\n"));
        Assert.Equal(RequestStatus.Broken, other.Read());
        Assert.Equal("unauthenticated bulk length", other.Problem);
    }

    [Fact]
    public void A_command_over_the_bound_is_passed_without_being_stored()
    {
        Append($"*3\r\n$3\r\nSET\r\n$1\r\na\r\n${3 * MaxBytes}\r\n");
        string piece = new('x', 50_000);
        int left = 3 * MaxBytes;
        for (; left > piece.Length; left -= piece.Length)
        {
            Append(piece);
            Assert.Equal(RequestStatus.Incomplete, _parser.Read());
            Assert.Equal(0, _share.UsedBytes);
        }

        Append(piece[..left] + "\r\nPING\r\n");
        Assert.Equal(RequestStatus.TooLarge, _parser.Read());
        Assert.Equal(["PING"], ReadAll());
    }

    [Fact]
    public void A_command_without_memory_is_passed_and_later_ones_are_read()
    {
        long taken = _share.LimitBytes - (100 << 10);
        Assert.True(_share.TryReserve(taken));
        const int Length = 900_000;
        Append($"*2\r\n$4\r\nECHO\r\n${Length}\r\n");
        string piece = new('x', 50_000);
        for (int sent = 0; sent < Length; sent += piece.Length)
        {
            Assert.Equal(RequestStatus.Incomplete, _parser.Read());
            Append(piece);
        }

        Append("\r\nPING\r\n");
        Assert.Equal(RequestStatus.OutOfMemory, _parser.Read());
        Assert.Equal(["PING"], ReadAll());
        _parser.Trim();
        Assert.Equal(taken, _share.UsedBytes);
        _share.Release(taken);
    }

    [Fact]
    public void Memory_of_a_large_command_is_reserved_and_returned()
    {
        string value = new('x', 500_000);
        string bytes = $"*2\r\n$4\r\nECHO\r\n${value.Length}\r\n{value}\r\n";
        for (int sent = 0; sent < bytes.Length; sent += 40_000)
        {
            Append(bytes[sent..Math.Min(sent + 40_000, bytes.Length)]);
            if (sent + 40_000 < bytes.Length)
            {
                Assert.Equal(RequestStatus.Incomplete, _parser.Read());
            }
        }

        Assert.Equal([$"ECHO {value}"], ReadAll());
        Assert.InRange(_share.UsedBytes, value.Length, 4 * value.Length);
        _parser.Trim();
        Assert.Equal(0, _share.UsedBytes);
    }

    [Theory]
    [InlineData(@"set k ""a\x41\n\"" b""", "set k aA\n\" b")]
    [InlineData(@"set k 'it\'s'", "set k it's")]
    [InlineData("  set\tk  v ", "set k v")]
    [InlineData(@"set k """"", "set k ")]
    public void Inline_commands_have_quotes_and_escapes(string line, string command)
    {
        Append(line + "\r\n");
        Assert.Equal([command], ReadAll());
    }

    [Fact]
    public void Random_bytes_never_lose_a_byte_or_hang()
    {
        var random = new Random(7);
        for (int round = 0; round < 3_000; round++)
        {
            using var parser = new RequestParser(new RequestLimits(4_000), _share) { IsTrusted = true };
            for (int part = 0; part < 8; part++)
            {
                parser.Append(new ReadOnlySequence<byte>(RandomBytes(random)));
                RequestStatus status;
                int commands = 0;
                while ((status = parser.Read()) is not (RequestStatus.Incomplete or RequestStatus.Broken))
                {
                    Assert.True(++commands < 10_000, "each command takes bytes");
                    if (status == RequestStatus.Command)
                    {
                        _ = parser.Name.Length;
                        var arguments = parser.Arguments;
                        for (int i = 0; i < arguments.Count; i++)
                        {
                            _ = arguments[i].Length;
                        }
                    }
                }

                if (status == RequestStatus.Broken)
                {
                    break;
                }

                parser.Trim();
            }
        }

        Assert.Equal(0, _share.UsedBytes);
    }

    // Parts of the protocol in any order, so that the parser comes further than its first line.
    private static byte[] RandomBytes(Random random)
    {
        string[] parts =
        [
            "*1\r\n",
            "*3\r\n",
            "*-1\r\n",
            "*0\r\n",
            "$3\r\n",
            "$0\r\n",
            "$5000\r\n",
            "$-1\r\n",
            "SET",
            "\r\n",
            "a",
            "\n",
            "\"",
            " ",
            "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
            "PING\r\n",
            "\0",
            "$536870912\r\n",
        ];
        var bytes = new StringBuilder();
        int count = random.Next(1, 20);
        for (int i = 0; i < count; i++)
        {
            bytes.Append(parts[random.Next(parts.Length)]);
        }

        return Encoding.Latin1.GetBytes(bytes.ToString());
    }

    private void Append(string bytes) => _parser.Append(Sequence(bytes));

    private static ReadOnlySequence<byte> Sequence(string bytes) => new(Encoding.Latin1.GetBytes(bytes));

    private List<string> ReadAll()
    {
        var commands = new List<string>();
        while (_parser.Read() is RequestStatus.Command)
        {
            var command = new StringBuilder(Encoding.Latin1.GetString(_parser.Name));
            var arguments = _parser.Arguments;
            for (int i = 0; i < arguments.Count; i++)
            {
                command.Append(' ').Append(Encoding.Latin1.GetString(arguments[i]));
            }

            commands.Add(command.ToString());
        }

        return commands;
    }
}
