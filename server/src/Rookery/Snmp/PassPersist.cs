namespace Rookery.Snmp;

/// <summary>
/// The protocol of snmpd's pass_persist (snmpd.conf(5)). The answer to PING is PONG. After "get" or "getnext", the next
/// line is an object identifier, and the answer is three lines (identifier, type, value) or NONE. After "set", the next
/// lines are an identifier and a value, and the answer is not-writable. An empty line or the end of the input ends the
/// conversation.
/// </summary>
/// <param name="read">Reads the current objects, in their order.</param>
internal sealed class PassPersist(Func<CancellationToken, Task<IReadOnlyList<SnmpObject>>> read)
{
    private const string None = "NONE";

    public async Task ServeAsync(TextReader input, TextWriter output, CancellationToken cancellationToken)
    {
        while (await input.ReadLineAsync(cancellationToken) is { Length: > 0 } command)
        {
            switch (command.Trim().ToUpperInvariant())
            {
                case "PING":
                    await output.WriteLineAsync("PONG");
                    break;
                case "GET":
                    await AnswerAsync(
                        await input.ReadLineAsync(cancellationToken),
                        output,
                        isNext: false,
                        cancellationToken
                    );
                    break;
                case "GETNEXT":
                    await AnswerAsync(
                        await input.ReadLineAsync(cancellationToken),
                        output,
                        isNext: true,
                        cancellationToken
                    );
                    break;
                case "SET":
                    await input.ReadLineAsync(cancellationToken);
                    await input.ReadLineAsync(cancellationToken);
                    await output.WriteLineAsync("not-writable");
                    break;
                default:
                    await output.WriteLineAsync(None);
                    break;
            }

            await output.FlushAsync(cancellationToken);
        }
    }

    private async Task AnswerAsync(string? idText, TextWriter output, bool isNext, CancellationToken cancellationToken)
    {
        SnmpObject? result = null;
        if (ObjectId.TryParse(idText ?? string.Empty, out var id))
        {
            var objects = await read(cancellationToken);
            result = isNext
                ? objects.FirstOrDefault(candidate => candidate.Id.CompareWith(id) > 0)
                : objects.FirstOrDefault(candidate => candidate.Id.CompareWith(id) == 0);
        }

        await output.WriteLineAsync(result is null ? None : $"{result.Id}\n{result.Type}\n{result.Value}");
    }
}
