using System.Buffers;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Server.Access;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Server.Raven.CompareExchange;

/// <summary>
/// PUT and DELETE of one compare-exchange value. The answer is <c>{"Index":…,"Value":{"Object":…},"Successful":…}</c>;
/// a wrong index is an answer with Successful false, not an error.
/// </summary>
internal sealed class ChangeCompareExchange(ServerContext context)
{
    public async Task PutAsync(HttpContext http, Database database)
    {
        byte[] key = ReadKey(http, isForStore: true);
        long index = ReadIndex(http);
        byte[] value;
        CommandBuffer command;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.DocumentBytesLimit,
                context.LargeRequests,
                BodyUse.CompareExchange
            )
        )
        {
            command = EncodePut(http, database, key, index, body.Span, out value);
        }

        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        await AnswerAsync(http, database, key, outcome, value);
    }

    public async Task DeleteAsync(HttpContext http, Database database)
    {
        byte[] key = ReadKey(http, isForStore: false);
        var command = CommandEncoder.DeleteCompareExchange(
            database.Number,
            key,
            ReadIndex(http),
            IdempotencyHeader.ReadOrRequestId(http)
        );
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        await AnswerAsync(http, database, key, outcome, stored: null);
    }

    private static CommandBuffer EncodePut(
        HttpContext http,
        Database database,
        byte[] key,
        long index,
        ReadOnlySpan<byte> body,
        out byte[] value
    )
    {
        using var parser = DocumentParser.Rent();
        if (!CompareExchangeValue.TryParse(parser, body, out var document, out var error))
        {
            throw RavenErrors.Refuse(error);
        }

        // The answer repeats the value.
        var output = new ArrayBufferWriter<byte>(document.BodyLength + 2);
        CompareExchangeValue.Write(output, document);
        value = output.WrittenSpan.ToArray();
        return CommandEncoder.PutCompareExchange(
            database.Number,
            key,
            index,
            document,
            IdempotencyHeader.ReadOrRequestId(http)
        );
    }

    private static byte[] ReadKey(HttpContext http, bool isForStore) =>
        CompareExchangeKeyParameter.Check(new QueryParameters(http).RequiredText("key"), isForStore);

    private static long ReadIndex(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        _ = parameters.RequiredText("index");
        return parameters.Number("index", defaultValue: 0);
    }

    private async Task AnswerAsync(
        HttpContext http,
        Database database,
        byte[] key,
        CommandOutcome outcome,
        byte[]? stored
    )
    {
        if (outcome.Rejection is { } rejection)
        {
            // Without a key, a repetition would find the index that the first attempt left, and report a failure.
            await RavenErrors.WriteAsync(http, rejection, IdempotencyHeader.ReadOrRequestId(http).IsPresent);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        var result = outcome[0];
        using var document = result.Document;
        bool isSuccessful = result.Status != OperationStatus.Mismatched;
        bool mayRead = ReadRight.IsHeld(http, database);
        using var answer = ResponseBuffer.Rent();
        if (result.Status == OperationStatus.Stored)
        {
            Write(answer, result.Etag, isSuccessful, stored);
        }
        else if (mayRead && document is null && !isSuccessful)
        {
            // The leader compared the index with its current value. This node may not have applied that value yet.
            if (!await context.Node.Consensus.ReadBarrierAsync())
            {
                await RavenErrors.WriteAsync(http, RavenRoute.NoBarrierRejection(context));
                return;
            }

            WriteCurrent(answer, database, key, result.Etag);
        }
        else
        {
            Write(answer, result.Etag, isSuccessful, mayRead && document is not null ? ToJson(document) : null);
        }

        await answer.SendAsync(http);
    }

    private static byte[] ToJson(CommandBuffer document)
    {
        var output = new ArrayBufferWriter<byte>(document.Length + 2);
        CompareExchangeValue.Write(output, new DocumentView(document.Written.Span));
        return output.WrittenSpan.ToArray();
    }

    /// <summary>
    /// Answers a mismatch with the current value and its index. The outcome lacks the value if the value is large or
    /// absent, or if the request is a repetition.
    /// </summary>
    private static void WriteCurrent(ResponseBuffer answer, Database database, byte[] key, long index)
    {
        using var reader = database.OpenReader();
        if (!reader.TryGetCompareExchange(key, out var current))
        {
            Write(answer, index, isSuccessful: false, value: null);
            return;
        }

        using (current)
        {
            var output = new ArrayBufferWriter<byte>();
            CompareExchangeValue.Write(output, current.View);
            Write(answer, current.Etag, isSuccessful: false, output.WrittenSpan.ToArray());
        }
    }

    private static void Write(ResponseBuffer answer, long index, bool isSuccessful, byte[]? value)
    {
        answer.Write("{\"Index\":"u8);
        CompareExchangeJson.WriteNumber(answer, index);
        answer.Write(",\"Value\":"u8);
        answer.Write(value ?? "null"u8);
        answer.Write(isSuccessful ? ",\"Successful\":true}"u8 : ",\"Successful\":false}"u8);
    }
}
