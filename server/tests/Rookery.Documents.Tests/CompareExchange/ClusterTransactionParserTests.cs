using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Json;

namespace Rookery.Documents.Tests.CompareExchange;

/// <summary>Bodies of bulk_docs with the TransactionMode ClusterWide, and compare-exchange values in them.</summary>
public sealed class ClusterTransactionParserTests
{
    [Theory]
    [InlineData("""{"Commands":[$],"TransactionMode":"ClusterWide"}""")]
    [InlineData("""{"TransactionMode":"ClusterWide","Commands":[$]}""")]
    public void The_transaction_mode_may_come_before_or_after_the_commands(string body)
    {
        const string Commands = """
            {"Id":"a","ChangeVector":null,"OriginalChangeVector":"A:1-x","Document":{"n":1},"Type":"PUT"},
            {"Id":"b","ChangeVector":null,"Type":"DELETE"},
            {"Id":"c/","Document":{"Object":[1]},"Index":0,"Type":"CompareExchangePUT"},
            {"Type":"CompareExchangeDELETE","Index":9007199254740993,"Id":"d"}
            """;
        using var batch = Parse(body.Replace("$", Commands, StringComparison.Ordinal)).Command;
        var reader = new CommandReader(batch.Written.Span);
        Assert.Equal((CommandKind.ClusterTransaction, 4, true), (reader.Kind, reader.OperationCount, reader.HasGuards));
        Assert.True(reader.TryReadOperation(out var put));
        Assert.Equal((OperationKind.Put, "A:1-x"), (put.Kind, Encoding.UTF8.GetString(put.Expected.Text)));
        Assert.True(reader.TryReadOperation(out var delete));
        Assert.Equal((OperationKind.Delete, Expectation.Anything), (delete.Kind, delete.Expected.Expectation));
        Assert.True(reader.TryReadOperation(out var value));
        Assert.Equal(
            (OperationKind.CompareExchangePut, CommandIdKind.Literal, 0L),
            (value.Kind, value.Id.Kind, value.ExpectedIndex)
        );
        Assert.True(reader.TryReadOperation(out var removal));
        Assert.Equal((OperationKind.CompareExchangeDelete, 9007199254740993L), (removal.Kind, removal.ExpectedIndex));
        Assert.False(reader.TryReadOperation(out _));
    }

    [Fact]
    public void Documents_may_be_nested_as_deep_as_in_a_batch()
    {
        string deep = new string('[', JsonLimits.MaxDepth - 1) + new string(']', JsonLimits.MaxDepth - 1);
        string command = $"{{\"Id\":\"a\",\"Document\":{{\"d\":{deep}}},\"Type\":\"PUT\"}}";
        Parse($"{{\"Commands\":[{command}],\"TransactionMode\":\"ClusterWide\"}}").Command.Dispose();
    }

    [Fact]
    public void A_batch_with_the_word_ClusterWide_in_a_document_is_no_transaction()
    {
        using var command = Parse("""{"Commands":[{"Id":"a","Document":{"n":"ClusterWide"},"Type":"PUT"}]}""").Command;
        Assert.Equal(CommandKind.Batch, new CommandReader(command.Written.Span).Kind);
    }

    [Theory]
    [InlineData("""{"Id":"a","Type":"PATCH","Patch":{"Script":"this.n=1"}}""", "'PATCH'")]
    [InlineData("""{"Type":"AttachmentPUT","Id":"a"}""", "'AttachmentPUT'")]
    [InlineData("""{"Id":"a","ChangeVector":"A:1-x","Document":{},"Type":"PUT"}""", "ChangeVector")]
    [InlineData("""{"Id":"a","Index":1,"Document":{},"Type":"PUT"}""", "'Index'")]
    [InlineData("""{"Id":"a","Document":{},"Type":"DELETE"}""", "'Document'")]
    [InlineData(
        """{"Id":"a","OriginalChangeVector":"A:1-x","Index":1,"Type":"CompareExchangeDELETE"}""",
        "'OriginalChangeVector' of a CompareExchangeDELETE"
    )]
    [InlineData("""{"Id":"a","IdPrefixed":true,"Type":"DELETE"}""", "'IdPrefixed'")]
    [InlineData("""{"Id":"a","Document":{"Object":1},"Type":"CompareExchangePUT"}""", "no Index")]
    [InlineData("""{"Id":"a","Index":0,"Type":"CompareExchangePUT"}""", "no Document")]
    [InlineData(
        """{"Id":"a","Index":5,"Document":{"Object":1},"OriginalChangeVector":"A:7-x","Type":"CompareExchangePUT"}""",
        "'OriginalChangeVector'"
    )]
    [InlineData(
        """{"Id":"a","Index":5,"OriginalChangeVector":"A:7-x","Type":"CompareExchangeDELETE"}""",
        "'OriginalChangeVector'"
    )]
    [InlineData("""{"Id":"a","Index":-1,"Document":{"Object":1},"Type":"CompareExchangePUT"}""", "whole number")]
    [InlineData("""{"Id":"a","Index":1.5,"Document":{"Object":1},"Type":"CompareExchangePUT"}""", "whole number")]
    [InlineData("""{"Id":"a","Index":0,"Document":{"Value":1},"Type":"CompareExchangePUT"}""", "member Object")]
    [InlineData("""{"Id":"a","Index":0,"Document":{"Object":1,"b":2},"Type":"CompareExchangePUT"}""", "member Object")]
    [InlineData("""{"Id":"","Index":0,"Document":{"Object":1},"Type":"CompareExchangePUT"}""", "key is empty")]
    [InlineData("""{"Id":"RVN-atomic/a","Index":0,"Document":{"Object":1},"Type":"CompareExchangePUT"}""", "guards")]
    [InlineData("""{"Id":"a"}""", "no Type")]
    public void Commands_that_a_transaction_cannot_contain_are_refused_by_name(string command, string name)
    {
        var error = Refuse(
            $"{{\"Commands\":[{{\"Id\":\"x\",\"Type\":\"DELETE\"}},{command}]," + "\"TransactionMode\":\"ClusterWide\"}"
        );
        Assert.Contains(name, error.ToString(), StringComparison.Ordinal);
        Assert.Contains("element 1", error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_compare_exchange_value_in_an_ordinary_batch_is_refused_with_the_mode_that_it_needs()
    {
        var error = Refuse(
            """{"Commands":[{"Id":"a","Document":{"Object":1},"Index":0,"Type":"CompareExchangePUT"}]}"""
        );
        Assert.Contains("TransactionMode ClusterWide", error.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"Object":1}""", true)]
    [InlineData("""{"Object":{"a":[1,{"b":","}],"c":"}"},"@metadata":{"x":1}}""", true)]
    [InlineData("""{"@metadata":{"x":1},"Object":null}""", true)]
    [InlineData("""{"Object":1,"@metadata":{},"Object2":1}""", false)]
    [InlineData("""{"a":1,"Object":1}""", false)]
    [InlineData("""{"Object":"a","b":1}""", false)]
    [InlineData("""{}""", false)]
    public void A_value_is_an_object_with_the_member_Object_and_optional_metadata(string json, bool isValid)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out _));
        Assert.Equal(isValid, CompareExchangeValue.TryCheck(document, out _));
    }

    [Fact]
    public void A_value_over_a_mebibyte_is_too_large()
    {
        using var parser = DocumentParser.Rent();
        byte[] json = Encoding.ASCII.GetBytes($"{{\"Object\":\"{new string('x', 1 << 20)}\"}}");
        Assert.True(parser.TryParse(json, out var document, out _));
        Assert.False(CompareExchangeValue.TryCheck(document, out var error));
        Assert.Equal(InputErrorKind.TooLarge, error.Kind);
    }

    private static ParsedBatch Parse(string body)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes(body),
                database: 1,
                key: default,
                DocumentLimits.MaxBatchBytes,
                out var batch,
                out var error
            ),
            error.ToString()
        );
        return batch;
    }

    private static InputError Refuse(string body)
    {
        Assert.False(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes(body),
                database: 1,
                key: default,
                DocumentLimits.MaxBatchBytes,
                out _,
                out var error
            )
        );
        return error;
    }
}
